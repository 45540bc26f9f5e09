#include "model.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

#include <array>

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

struct Model {
  ModelName name;
  std::uint32_t smallest_side;
  nn::Sequential (*make)(const PictureShape& shape);
};

// Two convolutions, two dense layers; for 28x28 pictures 206,922 parameters.
nn::Sequential make_digits_cnn(const PictureShape& shape) {
  constexpr std::int64_t kFirst = 16;
  constexpr std::int64_t kSecond = 32;
  constexpr std::int64_t kHidden = 128;
  const std::int64_t features = kSecond * (shape.rows / 4) * (shape.columns / 4);
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, kFirst, 3).padding(1)), nn::ReLU(),
                        nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(kFirst, kSecond, 3).padding(1)), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Flatten(), nn::Linear(features, kHidden), nn::ReLU(),
                        nn::Linear(kHidden, std::int64_t{shape.classes}));
}

constexpr std::array<Model, 1> kModels{{
    {{"digits_cnn", "a small convolutional network"}, 4, make_digits_cnn},
}};

}  // namespace

std::vector<ModelName> model_names() {
  std::vector<ModelName> names;
  for (const Model& model : kModels) names.push_back(model.name);
  return names;
}

Result<nn::Sequential> make_model(const std::string& name, const PictureShape& shape) {
  for (const Model& model : kModels) {
    if (model.name.name != name) continue;
    if (shape.rows < model.smallest_side || shape.columns < model.smallest_side) {
      return Error{Fault::kBadInput, name + " needs pictures of at least " +
                                         std::to_string(model.smallest_side) + " pixels a side"};
    }
    return model.make(shape);
  }
  return Error{Fault::kBadInput, "unknown model " + name};
}

}  // namespace trainscope::workload
