// digits_dense: the network of the beginners' tutorials. 128 neurons, dropout 0.2, ten scores.
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include "models/model.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kHiddenUnits = 128;

class DigitsDense : public Network {
 public:
  explicit DigitsDense(const NetworkShape& shape)
      : hidden_(register_module(
            "hidden", nn::Linear(static_cast<std::int64_t>(shape.image.bytes()), kHiddenUnits))),
        dropout_(register_module("dropout", nn::Dropout(0.2))),
        out_(register_module("out", nn::Linear(kHiddenUnits, std::int64_t{shape.classes}))) {}

  torch::Tensor features(const torch::Tensor& images) override {
    return dropout_(torch::relu(hidden_(images.flatten(1))));
  }
  torch::Tensor classify(const torch::Tensor& features) override { return out_(features); }

 private:
  nn::Linear hidden_;
  nn::Dropout dropout_;
  nn::Linear out_;
};

}  // namespace

extern const Model digits_dense_model;
const Model digits_dense_model{
    .name = "digits_dense",
    .summary = "one dense layer of 128, dropout",
    .channels = 1,
    .side = 28,
    .smallest_side = 1,
    .classes = 10,
    .parameters = 101770,
    .normalisation = kPlainNormalisation,
    .crop = 1.0,
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<DigitsDense>(shape);
    },
};

}  // namespace trainscope::workload
