// A training step recorded once on a CUDA device and played back from then on: one launch in the
// place of a thousand, which pays where launches take longer than compute.
//
// Guarantees: the same operations in the same order as without; a batch of another size than the
// first is computed without the recording. Everything between making one and its end runs
// on one stream of its own. Limits: the step must not wait for the device, and may depend only on
// its two arguments and on tensors that stay where they are.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

#include "base/result.h"

namespace trainscope::workload {

class StepGraph {
 public:
  using Step = std::function<torch::Tensor(const torch::Tensor& images,  // gives the loss
                                           const torch::Tensor& labels)>;

  virtual ~StepGraph() = default;
  // The first calls are computed as they are: libraries choose their ways and their memory then.
  virtual torch::Tensor run(const torch::Tensor& images, const torch::Tensor& labels,
                            const Step& step) = 0;
};

// Fails where the device is not a CUDA one, or this program was built without CUDA's headers.
Result<std::unique_ptr<StepGraph>> make_step_graph(const torch::Device& device);

}  // namespace trainscope::workload
