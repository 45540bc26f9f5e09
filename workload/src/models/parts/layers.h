// What the larger networks are made of: a convolution with batch normalisation and activation, and
// how weights begin.
#pragma once

#include <torch/nn/init.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <utility>

namespace trainscope::workload {

struct ConvShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
};

// Without bias (the normalisation that follows has one); padded so that stride 1 keeps the size.
inline torch::nn::Conv2d convolution(const ConvShape& shape) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(shape.in, shape.out, shape.kernel)
                               .stride(shape.stride)
                               .padding(shape.kernel / 2)
                               .groups(shape.groups)
                               .bias(false));
}

inline torch::nn::BatchNorm2d batch_norm(std::int64_t channels, double eps = 1e-5,
                                         double momentum = 0.1) {
  return torch::nn::BatchNorm2d(
      torch::nn::BatchNorm2dOptions(channels).eps(eps).momentum(momentum));
}

// A Sequential that may stand inside another one: its forward is not a template.
class ChainImpl : public torch::nn::SequentialImpl {
 public:
  using torch::nn::SequentialImpl::SequentialImpl;

  torch::Tensor forward(torch::Tensor x) {
    return torch::nn::SequentialImpl::forward(std::move(x));
  }
};
TORCH_MODULE(Chain);

// Normal weights that keep the size of what flows back, as He et al. begin.
inline void begin_weights(torch::nn::Module& network) {
  for (const auto& module : network.modules(false)) {
    if (auto* conv = module->as<torch::nn::Conv2d>()) {
      torch::nn::init::kaiming_normal_(conv->weight, 0.0, torch::kFanOut, torch::kReLU);
    } else if (auto* linear = module->as<torch::nn::Linear>()) {
      torch::nn::init::normal_(linear->weight, 0.0, 0.01);
      torch::nn::init::zeros_(linear->bias);
    }
  }
}

// The mean over all positions: [batch, channels, rows, columns] to [batch, channels].
inline torch::Tensor mean_over_positions(const torch::Tensor& maps) { return maps.mean({2, 3}); }

}  // namespace trainscope::workload
