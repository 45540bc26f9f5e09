// efficientnet_lite0: EfficientNet without squeeze and excitation, with ReLU6, padded as TensorFlow
// pads. Names are those of the weights that scripts/fetch-weights fetches.
#include <torch/nn/modules/dropout.h>

#include <algorithm>

#include "models/model.h"
#include "models/parts/efficientnet_stages.h"
#include "models/parts/layers.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

constexpr double kEps = 1e-3;
constexpr double kMomentum = 0.01;

// TensorFlow's "same": as many zeros as the windows need, the odd one at the end.
class SameConvImpl : public nn::Conv2dImpl {
 public:
  explicit SameConvImpl(const ConvShape& shape)
      : nn::Conv2dImpl(nn::Conv2dOptions(shape.in, shape.out, shape.kernel)
                           .stride(shape.stride)
                           .groups(shape.groups)
                           .bias(false)),
        kernel_(shape.kernel),
        stride_(shape.stride) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const std::int64_t rows = missing(x.size(2));
    const std::int64_t columns = missing(x.size(3));
    if (rows == 0 && columns == 0) return nn::Conv2dImpl::forward(x);
    return nn::Conv2dImpl::forward(
        torch::constant_pad_nd(x, {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2}));
  }

 private:
  std::int64_t missing(std::int64_t size) const {
    const std::int64_t windows = (size + stride_ - 1) / stride_;
    return std::max<std::int64_t>(0, (windows - 1) * stride_ + kernel_ - size);
  }

  std::int64_t kernel_;
  std::int64_t stride_;
};
TORCH_MODULE(SameConv);

nn::BatchNorm2d norm(std::int64_t channels) { return batch_norm(channels, kEps, kMomentum); }

class LiteBlockImpl : public nn::Module {
 public:
  explicit LiteBlockImpl(const EfficientnetStage& stage)
      : shortcut_(stage.in == stage.out && stage.stride == 1) {
    const std::int64_t width = stage.in * stage.expand;
    if (stage.expand != 1) {
      expand_ = register_module("_expand_conv", SameConv(ConvShape{stage.in, width}));
      bn0_ = register_module("_bn0", norm(width));
    }
    depthwise_ = register_module(
        "_depthwise_conv", SameConv(ConvShape{width, width, stage.kernel, stage.stride, width}));
    bn1_ = register_module("_bn1", norm(width));
    project_ = register_module("_project_conv", SameConv(ConvShape{width, stage.out}));
    bn2_ = register_module("_bn2", norm(stage.out));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor inner = x;
    if (!expand_.is_empty()) inner = torch::relu6(bn0_(expand_(inner)));
    inner = torch::relu6(bn1_(depthwise_(inner)));
    inner = bn2_(project_(inner));
    return shortcut_ ? inner + x : inner;
  }

 private:
  bool shortcut_;
  SameConv expand_{nullptr};
  nn::BatchNorm2d bn0_{nullptr};
  SameConv depthwise_{nullptr};
  nn::BatchNorm2d bn1_{nullptr};
  SameConv project_{nullptr};
  nn::BatchNorm2d bn2_{nullptr};
};
TORCH_MODULE(LiteBlock);

class EfficientnetLite0 : public Network {
 public:
  explicit EfficientnetLite0(const NetworkShape& shape)
      : stem_(register_module("_conv_stem",
                              SameConv(ConvShape{shape.image.channels, kEfficientnetFirst, 3, 2}))),
        bn0_(register_module("_bn0", norm(kEfficientnetFirst))),
        blocks_(register_module("_blocks", make_blocks())),
        head_(register_module(
            "_conv_head", SameConv(ConvShape{kEfficientnetStages.back().out, kEfficientnetLast}))),
        bn1_(register_module("_bn1", norm(kEfficientnetLast))),
        dropout_(register_module("_dropout", nn::Dropout(0.2))),
        fc_(register_module("_fc", nn::Linear(kEfficientnetLast, std::int64_t{shape.classes}))) {
    begin_weights(*this);
  }

  torch::Tensor features(const torch::Tensor& images) override {
    const torch::Tensor x = blocks_->forward(torch::relu6(bn0_(stem_(images))));
    return mean_over_positions(torch::relu6(bn1_(head_(x))));
  }
  torch::Tensor classify(const torch::Tensor& features) override { return fc_(dropout_(features)); }

 private:
  static nn::Sequential make_blocks() {
    nn::Sequential blocks;
    for (EfficientnetStage stage : kEfficientnetStages) {
      for (std::int64_t i = 0; i < stage.blocks; ++i) {
        blocks->push_back(LiteBlock(stage));
        stage = stage.after_first();
      }
    }
    return blocks;
  }

  SameConv stem_;
  nn::BatchNorm2d bn0_;
  nn::Sequential blocks_;
  SameConv head_;
  nn::BatchNorm2d bn1_;
  nn::Dropout dropout_;
  nn::Linear fc_;
};

}  // namespace

extern const Model efficientnet_lite0_model;
const Model efficientnet_lite0_model{
    .name = "efficientnet_lite0",
    .summary = "EfficientNet-Lite0",
    .parameters = 4652008,
    .normalisation = {{127.0F, 127.0F, 127.0F}, {128.0F, 128.0F, 128.0F}},
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<EfficientnetLite0>(shape);
    },
};

}  // namespace trainscope::workload
