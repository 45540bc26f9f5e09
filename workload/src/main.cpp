// trainscope-workload: parses, loads the data, trains. The only place that chooses exit codes:
// 0 done, 1 it broke while running, 2 usage error or bad input.

#include <cstdio>
#include <cstdlib>

#include "arguments.h"
#include "dataset.h"
#include "model_names.h"
#include "train.h"

namespace {

using namespace trainscope::workload;

int fail(const Error& error) {
  std::fprintf(stderr, "trainscope-workload: %s\n", error.message.c_str());
  return error.fault == Fault::kBadInput ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<ModelName> models = model_names();
  const ParsedArguments arguments = parse_arguments(argc, argv, models);
  if (!arguments.train) {
    std::fputs(arguments.message.c_str(), arguments.exit_code == 0 ? stdout : stderr);
    return arguments.exit_code;
  }
  Result<Dataset> data = load_dataset(arguments.train->data, arguments.train->seed);
  if (!data.ok()) return fail(data.error());
  const Status trained = train(*arguments.train, data.value(), std::getenv("TRAINSCOPE_PIPE"));
  return trained.ok() ? 0 : fail(trained.error());
}
