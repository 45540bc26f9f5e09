// efficientnet_b0: MBConv blocks with squeeze and excitation (Tan and Le 2019), as torchvision
// builds it, but without stochastic depth.
#include <algorithm>

#include "models/model.h"
#include "models/parts/chain_network.h"
#include "models/parts/efficientnet_stages.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

Chain conv_bn(const ConvShape& shape) { return Chain(convolution(shape), batch_norm(shape.out)); }

Chain conv_bn_silu(const ConvShape& shape) {
  return Chain(convolution(shape), batch_norm(shape.out), nn::SiLU());
}

// Weighs each channel by what all of them look like.
class SqueezeExcitationImpl : public nn::Module {
 public:
  SqueezeExcitationImpl(std::int64_t channels, std::int64_t squeezed)
      : fc1_(register_module("fc1", nn::Conv2d(nn::Conv2dOptions(channels, squeezed, 1)))),
        fc2_(register_module("fc2", nn::Conv2d(nn::Conv2dOptions(squeezed, channels, 1)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor squeezed = torch::silu(fc1_(x.mean({2, 3}, true)));
    return x * torch::sigmoid(fc2_(squeezed));
  }

 private:
  nn::Conv2d fc1_;
  nn::Conv2d fc2_;
};
TORCH_MODULE(SqueezeExcitation);

class MbConvImpl : public nn::Module {
 public:
  explicit MbConvImpl(const EfficientnetStage& stage)
      : shortcut_(stage.in == stage.out && stage.stride == 1) {
    const std::int64_t width = stage.in * stage.expand;
    Chain block;
    if (stage.expand != 1) block->push_back(conv_bn_silu({stage.in, width}));
    block->push_back(conv_bn_silu({width, width, stage.kernel, stage.stride, width}));
    block->push_back(SqueezeExcitation(width, std::max<std::int64_t>(1, stage.in / 4)));
    block->push_back(conv_bn({width, stage.out}));
    block_ = register_module("block", block);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = block_->forward(x);
    return shortcut_ ? x + inner : inner;
  }

 private:
  bool shortcut_;
  Chain block_{nullptr};
};
TORCH_MODULE(MbConv);

class EfficientnetB0 : public ChainNetwork {
 public:
  explicit EfficientnetB0(const NetworkShape& shape) {
    Chain features;
    features->push_back(conv_bn_silu({shape.image.channels, kEfficientnetFirst, 3, 2}));
    for (EfficientnetStage stage : kEfficientnetStages) {
      Chain blocks;
      for (std::int64_t i = 0; i < stage.blocks; ++i) {
        blocks->push_back(MbConv(stage));
        stage = stage.after_first();
      }
      features->push_back(blocks);
    }
    features->push_back(conv_bn_silu({kEfficientnetStages.back().out, kEfficientnetLast}));
    make_of(features, kEfficientnetLast, shape.classes);
  }
};

}  // namespace

extern const Model efficientnet_b0_model;
const Model efficientnet_b0_model{
    .name = "efficientnet_b0",
    .summary = "EfficientNet-B0",
    .parameters = 5288548,
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<EfficientnetB0>(shape);
    },
};

}  // namespace trainscope::workload
