// resnet50: bottleneck blocks 3, 4, 6, 3, the stride in the 3x3 convolution (torchvision's,
// "v1.5").
#include "models/model.h"
#include "models/parts/layers.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kExpansion = 4;

class BottleneckImpl : public nn::Module {
 public:
  BottleneckImpl(std::int64_t in, std::int64_t width, std::int64_t stride)
      : conv1_(register_module("conv1", convolution({in, width}))),
        bn1_(register_module("bn1", batch_norm(width))),
        conv2_(register_module("conv2", convolution({width, width, 3, stride}))),
        bn2_(register_module("bn2", batch_norm(width))),
        conv3_(register_module("conv3", convolution({width, width * kExpansion}))),
        bn3_(register_module("bn3", batch_norm(width * kExpansion))) {
    if (in == width * kExpansion && stride == 1) return;
    downsample_ = register_module("downsample",
                                  nn::Sequential(convolution({in, width * kExpansion, 1, stride}),
                                                 batch_norm(width * kExpansion)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor inner = bn1_(conv1_(x)).relu_();
    inner = bn2_(conv2_(inner)).relu_();
    inner = bn3_(conv3_(inner));
    return (inner + (downsample_.is_empty() ? x : downsample_->forward(x))).relu_();
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
  nn::Conv2d conv3_;
  nn::BatchNorm2d bn3_;
  nn::Sequential downsample_{nullptr};
};
TORCH_MODULE(Bottleneck);

nn::Sequential stage(std::int64_t in, std::int64_t width, std::int64_t blocks,
                     std::int64_t stride) {
  nn::Sequential result;
  result->push_back(Bottleneck(in, width, stride));
  for (std::int64_t i = 1; i < blocks; ++i) {
    result->push_back(Bottleneck(width * kExpansion, width, 1));
  }
  return result;
}

class Resnet50 : public Network {
 public:
  explicit Resnet50(const NetworkShape& shape)
      : conv1_(register_module("conv1", convolution({shape.image.channels, 64, 7, 2}))),
        bn1_(register_module("bn1", batch_norm(64))),
        layer1_(register_module("layer1", stage(64, 64, 3, 1))),
        layer2_(register_module("layer2", stage(256, 128, 4, 2))),
        layer3_(register_module("layer3", stage(512, 256, 6, 2))),
        layer4_(register_module("layer4", stage(1024, 512, 3, 2))),
        fc_(register_module("fc", nn::Linear(2048, std::int64_t{shape.classes}))) {
    begin_weights(*this);
  }

  torch::Tensor features(const torch::Tensor& images) override {
    torch::Tensor x = bn1_(conv1_(images)).relu_();
    x = torch::max_pool2d(x, 3, 2, 1);
    x = layer2_->forward(layer1_->forward(x));
    x = layer4_->forward(layer3_->forward(x));
    return mean_over_positions(x);
  }
  torch::Tensor classify(const torch::Tensor& features) override { return fc_(features); }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Sequential layer1_;
  nn::Sequential layer2_;
  nn::Sequential layer3_;
  nn::Sequential layer4_;
  nn::Linear fc_;
};

}  // namespace

extern const Model resnet50_model;
const Model resnet50_model{
    .name = "resnet50",
    .summary = "ResNet-50",
    .parameters = 25557032,
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<Resnet50>(shape);
    },
};

}  // namespace trainscope::workload
