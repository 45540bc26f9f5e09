// Built where PyTorch has CUDA and CUDA's headers are at hand.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "train/step_graph.h"

namespace trainscope::workload {
namespace {

constexpr int kFirstCalls = 3;

class CudaStepGraph : public StepGraph {
 public:
  explicit CudaStepGraph(const torch::Device& device)
      : on_stream_(c10::impl::VirtualGuardImpl(c10::kCUDA).getStreamFromGlobalPool(device)) {}

  torch::Tensor run(const torch::Tensor& images, const torch::Tensor& labels,
                    const Step& step) override {
    if (calls_ == 0) full_ = labels.size(0);
    const bool is_full = labels.size(0) == full_;  // the last batch of a pass may not be
    if (!is_full || calls_ < kFirstCalls) {
      ++calls_;
      return step(images, labels);
    }
    if (!loss_.defined()) record(images, labels, step);
    images_.copy_(images);
    labels_.copy_(labels);
    graph_.replay();
    return loss_;
  }

 private:
  void record(const torch::Tensor& images, const torch::Tensor& labels, const Step& step) {
    images_ = images.clone();
    labels_ = labels.clone();
    // Threads that load images may use CUDA's own memory at the same time.
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    loss_ = step(images_, labels_);
    graph_.capture_end();
  }

  c10::StreamGuard on_stream_;
  at::cuda::CUDAGraph graph_;
  int calls_ = 0;
  std::int64_t full_ = 0;  // images in a batch
  torch::Tensor images_, labels_, loss_;
};

}  // namespace

Result<std::unique_ptr<StepGraph>> make_step_graph(const torch::Device& device) {
  if (!device.is_cuda()) return Error("--graph needs --device cuda");
  return std::unique_ptr<StepGraph>(std::make_unique<CudaStepGraph>(device));
}

}  // namespace trainscope::workload
