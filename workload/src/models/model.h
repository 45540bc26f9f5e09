// The networks that can be trained, in one table. A model is one file in models/ with one constant
// `const Model NAME_model`; the build finds it.
//
// Guarantees: with its own channels, side and classes a model has exactly `parameters` parameters
// (a test counts them); with others it adapts its first and last layer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/samples.h"
#include "models/model_names.h"
#include "models/network.h"

namespace trainscope::workload {

struct NetworkShape {
  ImageShape image;
  std::uint32_t classes = 0;
};

// Pixels become (pixel - mean) / deviation; of one channel the first counts.
struct Normalisation {
  std::array<float, 3> mean;
  std::array<float, 3> deviation;
};

constexpr Normalisation kPlainNormalisation{{127.5F, 127.5F, 127.5F}, {127.5F, 127.5F, 127.5F}};
// The means and deviations of ImageNet that torchvision's weights were trained with.
constexpr Normalisation kImagenetNormalisation{{123.675F, 116.28F, 103.53F},
                                               {58.395F, 57.12F, 57.375F}};

struct Model {
  std::string_view name;
  std::string_view summary;  // a few words, for --help
  std::uint32_t channels = 3;
  std::uint32_t side = 224;
  std::uint32_t smallest_side = 32;
  std::uint32_t classes = 1000;
  std::int64_t parameters = 0;
  Normalisation normalisation = kImagenetNormalisation;
  double crop = 0.875;  // of a photograph's shorter side, when it is labelled
  std::shared_ptr<Network> (*make)(const NetworkShape& shape) = nullptr;
};

// All of them, in the order of their names.
std::span<const Model* const> all_models();

const Model* find_model(std::string_view name);

// Fails where the images do not fit the network.
Result<std::shared_ptr<Network>> make_network(const Model& model, const NetworkShape& shape);

std::int64_t count_parameters(const Network& network);

}  // namespace trainscope::workload
