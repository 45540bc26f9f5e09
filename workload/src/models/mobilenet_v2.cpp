// mobilenet_v2: inverted residuals (Sandler et al. 2018), width 1.0, as torchvision builds it.
#include <array>

#include "models/model.h"
#include "models/parts/chain_network.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

Chain conv_bn_relu6(const ConvShape& shape) {
  return Chain(convolution(shape), batch_norm(shape.out), nn::ReLU6(nn::ReLU6Options(true)));
}

class InvertedResidualImpl : public nn::Module {
 public:
  InvertedResidualImpl(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t expand)
      : shortcut_(in == out && stride == 1) {
    const std::int64_t width = in * expand;
    Chain conv;
    if (expand != 1) conv->push_back(conv_bn_relu6({in, width}));
    conv->push_back(conv_bn_relu6({width, width, 3, stride, width}));
    conv->push_back(convolution({width, out}));
    conv->push_back(batch_norm(out));
    conv_ = register_module("conv", conv);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = conv_->forward(x);
    return shortcut_ ? x + inner : inner;
  }

 private:
  bool shortcut_;
  Chain conv_{nullptr};
};
TORCH_MODULE(InvertedResidual);

struct Stage {
  std::int64_t expand, out, blocks, stride;
};
constexpr std::array<Stage, 7> kStages{{{1, 16, 1, 1},
                                        {6, 24, 2, 2},
                                        {6, 32, 3, 2},
                                        {6, 64, 4, 2},
                                        {6, 96, 3, 1},
                                        {6, 160, 3, 2},
                                        {6, 320, 1, 1}}};
constexpr std::int64_t kStemChannels = 32;
constexpr std::int64_t kLast = 1280;

class MobilenetV2 : public ChainNetwork {
 public:
  explicit MobilenetV2(const NetworkShape& shape) {
    Chain features;
    features->push_back(conv_bn_relu6({shape.image.channels, kStemChannels, 3, 2}));
    std::int64_t in = kStemChannels;
    for (const Stage& stage : kStages) {
      for (std::int64_t i = 0; i < stage.blocks; ++i) {
        features->push_back(
            InvertedResidual(in, stage.out, i == 0 ? stage.stride : 1, stage.expand));
        in = stage.out;
      }
    }
    features->push_back(conv_bn_relu6({in, kLast}));
    make_of(features, kLast, shape.classes);
  }
};

}  // namespace

extern const Model mobilenet_v2_model;
const Model mobilenet_v2_model{
    .name = "mobilenet_v2",
    .summary = "MobileNet v2",
    .parameters = 3504872,
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<MobilenetV2>(shape);
    },
};

}  // namespace trainscope::workload
