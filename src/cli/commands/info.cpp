// trainscope info: shows a run, or a group of them.
#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/group_summary.h"
#include "cli/info_json.h"
#include "cli/info_text.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "cli/table.h"

namespace trainscope {

namespace {

struct InfoFlags {
  bool all = false, events = false;
};

Result<int> show_group(const RunGroup& group, const ReadingFlags& flags, const InfoFlags& wanted) {
  if (wanted.events) {
    return Error(fmt::format("info: {} is a group; use --events with one of its runs", group.id));
  }
  const GroupSummary summary = read_group(group);
  if (flags.json) {
    print_json(group_document(summary));
  } else {
    show_text(group_text(summary, {wanted.all, colour_wanted(STDOUT_FILENO)}));
  }
  return 0;
}

Result<int> show(const ReadingFlags& flags, const InfoFlags& wanted) {
  TS_TRY(const RunTarget target, find_target(flags.home, flags.run));
  if (target.group) return show_group(*target.group, flags, wanted);
  TS_TRY(const auto run, open_found_run(target.paths.back()));
  if (flags.json) {
    TS_TRY(const Json document, info_json(*run, wanted.events));
    print_json(document);
    return 0;
  }
  const InfoStyle style{wanted.all, wanted.events, colour_wanted(STDOUT_FILENO),
                        terminal_width(STDOUT_FILENO)};
  TS_TRY(const std::string text, info_text(*run, style));
  show_text(text);
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, true);
  add_run_argument(options, flags, kRunOrGroupHelp);
  auto wanted = std::make_shared<InfoFlags>();
  options.add({.name = "--all",
               .value = "",
               .help = "show all series, not only the main ones; of a group all runs",
               .set = store_in(wanted->all)});
  options.add({.name = "--events",
               .value = "",
               .help = "show what happened during the recording, instead of the metrics",
               .set = store_in(wanted->events)});
  return [flags, wanted] { return show(*flags, *wanted); };
}

}  // namespace

extern const Command info_command;
const Command info_command = {
    .name = "info",
    .summary = "show a run or a group: outcome, recording quality and metrics",
    .examples = R"(trainscope info
trainscope info baseline --all
trainscope info baseline~1 --events
trainscope info baseline --json
trainscope info slurm-4711.0)",
    .add = add,
};

}  // namespace trainscope
