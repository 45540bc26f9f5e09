// trainscope-workload: parses and runs one command. The only place that chooses exit codes:
// 0 done, 1 it broke while running, 2 usage error or bad input.

#include <malloc.h>

#include <cstdio>
#include <limits>

#include "commands/arguments.h"
#include "commands/label.h"
#include "commands/train.h"
#include "commands/transfer.h"
#include "errors.h"
#include "models/model_names.h"

namespace {

using namespace trainscope::workload;
using trainscope::Status;

Status run(const ParsedArguments& arguments) {
  if (arguments.train) return train(*arguments.train);
  if (arguments.label) return label(*arguments.label);
  return transfer(*arguments.transfer);
}

// Every step asks for the same large blocks again. By default glibc returns each to the kernel
// and gets it back page by page.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<ModelName> models = model_names();
  const ParsedArguments arguments = parse_arguments(argc, argv, models);
  if (!arguments.train && !arguments.label && !arguments.transfer) {
    std::fputs(arguments.message.c_str(), arguments.exit_code == 0 ? stdout : stderr);
    return arguments.exit_code;
  }
  keep_freed_memory();
  const Status done = run(arguments);
  if (done) return 0;
  std::fprintf(stderr, "trainscope-workload: %s\n", done.error().message().c_str());
  return is_run_failure(done.error()) ? 1 : 2;
}
