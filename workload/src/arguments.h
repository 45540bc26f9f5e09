// The command line of trainscope-workload, parsed and checked.
//
// Guarantees: options that come out are usable as they are: numbers in range, the model known, at
// least one limit set. No file is touched and nothing is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model_names.h"

namespace trainscope::workload {

struct DeviceChoice {
  bool cuda = false;
  int index = 0;
};

struct TrainOptions {
  std::string model = "digits_cnn";
  std::string data = "auto";
  DeviceChoice device;
  bool strict = false;
  std::uint64_t batch = 64;
  double learning_rate = 1e-3;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: libtorch's own default
  std::uint64_t every = 100;
  std::string step_log;  // empty: none
  // The first limit that is reached ends the training.
  std::optional<double> seconds;
  std::optional<std::uint64_t> steps;
  std::optional<std::uint64_t> epochs;
};

// Either options, or what to print and the code to exit with (help, or a usage error).
struct ParsedArguments {
  std::optional<TrainOptions> train;
  std::string message;
  int exit_code = 0;
};

ParsedArguments parse_arguments(int argc, const char* const* argv,
                                std::span<const ModelName> models);

// "20", "20s", "500ms", "2m", "1.5h" in seconds; nothing where it is not a positive time.
std::optional<double> parse_duration_s(const std::string& text);

// "cpu", "cuda" or "cuda:N"; nothing where it is neither.
std::optional<DeviceChoice> parse_device(const std::string& text);

}  // namespace trainscope::workload
