// digits_cnn: two convolutions with pooling, a dense layer of 128, dropout, ten scores.
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include "models/model.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kFirstFilters = 16;
constexpr std::int64_t kSecondFilters = 32;
constexpr std::int64_t kDenseUnits = 128;

class DigitsCnn : public Network {
 public:
  explicit DigitsCnn(const NetworkShape& shape)
      : conv1_(register_module("conv1", convolution(shape.image.channels, kFirstFilters))),
        conv2_(register_module("conv2", convolution(kFirstFilters, kSecondFilters))),
        hidden_(register_module("hidden",
                                nn::Linear(kSecondFilters * std::int64_t{shape.image.rows / 4} *
                                               std::int64_t{shape.image.columns / 4},
                                           kDenseUnits))),
        dropout_(register_module("dropout", nn::Dropout(0.25))),
        out_(register_module("out", nn::Linear(kDenseUnits, std::int64_t{shape.classes}))) {}

  torch::Tensor features(const torch::Tensor& images) override {
    const torch::Tensor first = torch::max_pool2d(torch::relu(conv1_(images)), 2);
    const torch::Tensor second = torch::max_pool2d(torch::relu(conv2_(first)), 2);
    return dropout_(torch::relu(hidden_(second.flatten(1))));
  }
  torch::Tensor classify(const torch::Tensor& features) override { return out_(features); }

 private:
  static nn::Conv2d convolution(std::int64_t in, std::int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
  }

  nn::Conv2d conv1_;
  nn::Conv2d conv2_;
  nn::Linear hidden_;
  nn::Dropout dropout_;
  nn::Linear out_;
};

}  // namespace

extern const Model digits_cnn_model;
const Model digits_cnn_model{
    .name = "digits_cnn",
    .summary = "a small convolutional network, dropout",
    .channels = 1,
    .side = 28,
    .smallest_side = 4,
    .classes = 10,
    .parameters = 206922,
    .normalisation = kPlainNormalisation,
    .crop = 1.0,
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<DigitsCnn>(shape);
    },
};

}  // namespace trainscope::workload
