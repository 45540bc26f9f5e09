// complete-runs (hidden): ids and names of runs and ids of groups, one per line, for the shells'
// completion.
#include <set>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "store/store.h"

namespace trainscope::complete_runs_command {

namespace {

// Names that a terminal or a shell would interpret are not offered.
bool is_harmless(const std::string& word) {
  return !word.empty() && !word.starts_with('-') && printable(word) == word &&
         word.find_first_of("`$\"'\\;&|<>(){}[]*?!~#^") == std::string::npos;
}

Result<int> print_runs(const std::string& home) {
  const auto runs = list_runs(home);
  if (!runs || runs->empty()) return 0;  // A shell that completes wants no message.
  std::set<std::string> offered;
  show_text("latest\n");
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    const Manifest& manifest = run->manifest;
    for (const std::string& word : {manifest.id, manifest.name}) {
      if (is_harmless(word) && offered.insert(word).second) show("{}\n", word);
    }
  }
  for (const RunGroup& group : group_runs(*runs)) {
    if (is_harmless(group.id) && offered.insert(group.id).second) show("{}\n", group.id);
  }
  return 0;
}

std::function<Result<int>()> add(Options& /*options*/, const Settings& settings) {
  return [home = settings.home()] { return print_runs(home); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "complete-runs",
    .summary = "print the ids and names of runs, for completion",
    .examples = "",
    .hidden = true,
    .add = add,
};

}  // namespace trainscope::complete_runs_command
