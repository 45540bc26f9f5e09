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

}  // namespace trainscope::workload
