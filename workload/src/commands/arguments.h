// The command line of trainscope-workload, parsed and checked.
//
// No file is touched and nothing is printed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/model_names.h"
#include "options.h"

namespace trainscope::workload {

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
std::optional<InjectedDelay> parse_injected_delay(const std::string& text);

// "0.01" or "0.001,0.01,0.1": each above 0 and at most 1000; nothing where one is not.
std::optional<std::vector<double>> parse_learning_rates(const std::string& text);

}  // namespace trainscope::workload
