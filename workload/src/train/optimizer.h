// Adam, and SGD with momentum 0.9: each one fused operation over all parameters.
//
// Guarantees: the numbers are those of torch.optim; a step never waits for the device, so that it
// can be recorded in a CUDA graph. A parameter without a gradient stays as it is.
#pragma once

#include <torch/types.h>

#include <optional>
#include <string>
#include <vector>

#include "models/network.h"
#include "options.h"
#include "weights/weights.h"

namespace trainscope::workload {

class Optimizer {
 public:
  Optimizer(OptimizerKind kind, double learning_rate, const Network& network);

  void zero_grad();
  // Only of parameters that have one.
  std::vector<torch::Tensor> gradients() const;
  // Changes nothing where `overflow` holds a 1.
  void step(const std::optional<torch::Tensor>& overflow = std::nullopt);

  // Under state.optimizer.*
  void add_state(TensorBundle& bundle) const;
  // What add_state wrote. Fails where the file is of another optimizer.
  Status load_state(const TensorFile& content);

 private:
  struct Kept {  // a tensor for each parameter
    const char* name;
    std::vector<torch::Tensor> tensors;
  };
  // Of a list with one for each parameter those whose parameter has a gradient.
  std::vector<torch::Tensor> with_gradient(const std::vector<torch::Tensor>& all) const;

  OptimizerKind kind_;
  double learning_rate_;
  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_;
  std::vector<Kept> kept_;  // momentum; or mean and square of the gradients
  torch::Tensor steps_;     // on the device
};

}  // namespace trainscope::workload
