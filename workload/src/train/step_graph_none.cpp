// Built where PyTorch has no CUDA, or CUDA's headers are missing.
#include "train/step_graph.h"

namespace trainscope::workload {

Result<std::unique_ptr<StepGraph>> make_step_graph(const torch::Device& device) {
  if (!device.is_cuda()) return Error("--graph needs --device cuda");
  return Error("this program was built without CUDA's headers: --graph is not possible");
}

}  // namespace trainscope::workload
