// The command line of trainscope-workload, parsed and checked.
//
// Guarantees: options that come out are usable as they are: numbers in range, the model known, at
// least one limit set. No file is touched and nothing is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/model_names.h"
#include "train/planted_delay.h"

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
  std::uint32_t side = 0;  // of encoded and made-up pictures; 0: the model's own
  DeviceChoice device;
  bool strict = false;
  bool log_placement = false;
  bool graph = false;     // record a step once and play it back (CUDA)
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
  PlantedDelay input;
  std::uint64_t every = 100;
  std::string step_log;                 // empty: none
  std::string summaries;                // folder for TensorBoard; empty: none
  std::string weights;                  // to begin with; empty: random ones
  std::string export_file;              // empty: none
  std::string checkpoint;               // empty: none
  double checkpoints_s = 60.0;          // between two
  bool resume = false;                  // from `checkpoint`
  std::optional<double> evaluations_s;  // besides those after each epoch
  // The first limit that is reached ends the training.
  std::optional<double> seconds;
  std::optional<std::uint64_t> steps;
  std::optional<std::uint64_t> epochs;
};

struct LabelOptions {
  std::string image;
  std::string weights;
  std::string model;  // empty: what the weights say
  DeviceChoice device;
  bool strict = false;
  int threads = 0;
  std::uint64_t top = 5;
  std::uint64_t repeat = 10;  // warm calls
};

struct TransferOptions {
  std::string folder;   // of pictures, one folder a class
  std::string weights;  // of the trunk
  std::string model;    // empty: what the weights say
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

// Either options of one command, or what to print and the code to exit with.
struct ParsedArguments {
  std::optional<TrainOptions> train;
  std::optional<LabelOptions> label;
  std::optional<TransferOptions> transfer;
  std::string message;
  int exit_code = 0;
};

ParsedArguments parse_arguments(int argc, const char* const* argv,
                                std::span<const ModelName> models);

// "20", "20s", "500ms", "2m", "1.5h" in seconds; nothing where it is not a positive time.
std::optional<double> parse_duration_s(const std::string& text);

// "cpu", "cuda" or "cuda:N"; nothing where it is neither.
std::optional<DeviceChoice> parse_device(const std::string& text);

// "none", "slow:20ms" or "stall:7x200ms"; nothing where it is neither.
std::optional<PlantedDelay> parse_planted_delay(const std::string& text);

// "0.01" or "0.001,0.01,0.1": each above 0 and at most 1000; nothing where one is not.
std::optional<std::vector<double>> parse_learning_rates(const std::string& text);

}  // namespace trainscope::workload
