// complete-runs (hidden): what a RUN may be, one a line, for the shells' completion.
#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "cli/cli.h"
#include "store/store.h"

namespace trainscope {

namespace {

Result<int> print_runs(const std::string& home) {
  const auto runs = list_runs(home);
  if (!runs || runs->empty()) return 0;  // A shell that completes wants no message.
  std::set<std::string> names;
  fmt::print("latest\n");
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    const Manifest& manifest = run->manifest;
    if (!manifest.id.empty()) fmt::print("{}\n", printable(manifest.id));
    // A name that a terminal would obey is not offered.
    const bool plain = !manifest.name.empty() && printable(manifest.name) == manifest.name;
    if (plain && names.insert(manifest.name).second) fmt::print("{}\n", manifest.name);
  }
  return 0;
}

std::function<Result<int>()> add(Options& /*options*/, const Settings& settings) {
  return [home = settings.home()] { return print_runs(home); };
}

}  // namespace

extern const Command complete_runs_command;
const Command complete_runs_command = {
    .name = "complete-runs",
    .summary = "print what a RUN may be, for completion",
    .examples = "",
    .hidden = true,
    .add = add,
};

}  // namespace trainscope
