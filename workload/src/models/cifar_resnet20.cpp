// cifar_resnet20: He et al. 2015, section 4.2, n = 3, shortcuts without parameters (option A).
#include <optional>

#include "models/model.h"
#include "models/parts/layers.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

constexpr int kBlocksAStage = 3;

class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : widen_(out - in),
        stride_(stride),
        conv1_(register_module("conv1", convolution({in, out, 3, stride}))),
        bn1_(register_module("bn1", batch_norm(out))),
        conv2_(register_module("conv2", convolution({out, out, 3}))),
        bn2_(register_module("bn2", batch_norm(out))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = torch::relu(bn1_(conv1_(x)));
    return torch::relu(bn2_(conv2_(inner)) + shortcut(x));
  }

 private:
  // Every second pixel, and zeros for the channels that are new.
  torch::Tensor shortcut(const torch::Tensor& x) const {
    if (stride_ == 1 && widen_ == 0) return x;
    const torch::Tensor thin =
        x.slice(2, 0, std::nullopt, stride_).slice(3, 0, std::nullopt, stride_);
    return torch::constant_pad_nd(thin, {0, 0, 0, 0, widen_ / 2, widen_ - widen_ / 2});
  }

  std::int64_t widen_;
  std::int64_t stride_;
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
};
TORCH_MODULE(Block);

class CifarResnet : public Network {
 public:
  explicit CifarResnet(const NetworkShape& shape)
      : conv1_(register_module("conv1", convolution({shape.image.channels, 16, 3}))),
        bn1_(register_module("bn1", batch_norm(16))),
        layer1_(register_module("layer1", stage(16, 16, 1))),
        layer2_(register_module("layer2", stage(16, 32, 2))),
        layer3_(register_module("layer3", stage(32, 64, 2))),
        linear_(register_module("linear", nn::Linear(64, std::int64_t{shape.classes}))) {
    begin_weights(*this);
  }

  torch::Tensor features(const torch::Tensor& images) override {
    torch::Tensor x = torch::relu(bn1_(conv1_(images)));
    x = layer3_->forward(layer2_->forward(layer1_->forward(x)));
    return mean_over_positions(x);
  }
  torch::Tensor classify(const torch::Tensor& features) override { return linear_(features); }

 private:
  static nn::Sequential stage(std::int64_t in, std::int64_t out, std::int64_t stride) {
    nn::Sequential blocks;
    blocks->push_back(Block(in, out, stride));
    for (int i = 1; i < kBlocksAStage; ++i) blocks->push_back(Block(out, out, 1));
    return blocks;
  }

  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Sequential layer1_;
  nn::Sequential layer2_;
  nn::Sequential layer3_;
  nn::Linear linear_;
};

}  // namespace

extern const Model cifar_resnet20_model;
const Model cifar_resnet20_model{
    .name = "cifar_resnet20",
    .summary = "ResNet-20 for small images",
    .side = 32,
    .smallest_side = 8,
    .classes = 10,
    .parameters = 269722,
    .crop = 1.0,
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<CifarResnet>(shape);
    },
};

}  // namespace trainscope::workload
