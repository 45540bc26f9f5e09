// The options of the commands train, label and transfer, with their defaults.
//
// Guarantees: options that commands/arguments.h parsed are usable as they are: numbers in range,
// the model known, at least one limit set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/injected_delay.h"

namespace trainscope::workload {

struct DeviceChoice {
  bool cuda = false;
  int index = 0;
};

enum class Precision { kFloat32, kBfloat16, kFloat16 };
enum class OptimizerKind { kAdam, kSgd };

struct TrainOptions {
  std::string model = "digits_cnn";
  std::string data = "auto";
  std::uint32_t side = 0;  // of encoded and synthetic images; 0: the model's own
  DeviceChoice device;
  bool strict = false;
  bool log_placement = false;
  bool graph = false;     // record a step once and replay it (CUDA)
  bool resident = false;  // one batch for all steps
  std::uint64_t batch = 64;
  bool channels_last = false;
  Precision precision = Precision::kFloat32;
  OptimizerKind optimizer = OptimizerKind::kAdam;
  double learning_rate = 1e-3;
  std::uint64_t seed = 1;
  int threads = 0;                  // 0: libtorch's own default
  int inter_threads = 0;            // 0: libtorch's own default
  std::optional<unsigned> loaders;  // none: as many as the data are worth
  std::uint64_t prefetch = 4;
  InjectedDelay input;
  std::uint64_t every = 100;
  std::string step_log;                 // empty: none
  std::string summaries;                // folder for TensorBoard; empty: none
  std::string weights;                  // to begin with; empty: random ones
  std::string export_file;              // empty: none
  std::string checkpoint;               // empty: none
  double checkpoints_s = 60.0;          // between two
  bool resume = false;                  // from `checkpoint`
  std::optional<double> evaluations_s;  // in addition to those after each epoch
  // The first limit that is reached ends the training.
  std::optional<double> seconds;
  std::optional<std::uint64_t> steps;
  std::optional<std::uint64_t> epochs;
};

struct LabelOptions {
  std::string image;
  std::string weights;
  std::string model;  // empty: the one that the weights name
  DeviceChoice device;
  bool strict = false;
  int threads = 0;
  std::uint64_t top = 5;
  std::uint64_t repeat = 10;  // warm calls
};

struct TransferOptions {
  std::string folder;   // of images, one folder per class
  std::string weights;  // of the trunk
  std::string model;    // empty: the one that the weights name
  std::string cache;    // of bottleneck vectors; empty: none, each run computes them
  DeviceChoice device;
  bool strict = false;
  int threads = 0;
  std::uint64_t batch = 100;
  std::uint64_t steps = 4000;
  std::vector<double> learning_rates{0.01};
  double validation_percent = 10.0;
  double test_percent = 10.0;
  std::uint64_t evaluate_every = 10;
  std::uint64_t seed = 1;
  bool misclassified = false;
  std::string summaries;    // folder for TensorBoard; empty: none
  std::string export_file;  // empty: none
};

}  // namespace trainscope::workload
