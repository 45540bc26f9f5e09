// trainscope info: shows a run, or a group of them.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/follow.h"
#include "cli/group_text.h"
#include "cli/info_text.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "document/document.h"
#include "store/store.h"
#include "tui/tui.h"

namespace trainscope::info_command {

namespace {

struct InfoFlags {
  bool all = false, events = false, follow = false;
};

InfoStyle style_of(const InfoFlags& wanted) {
  const char* const term = std::getenv("TERM");
  const bool is_dumb = term == nullptr || std::string_view(term) == "dumb";
  InfoStyle style{wanted.all, wanted.events, colour_wanted(STDOUT_FILENO),
                  terminal_width(STDOUT_FILENO)};
  if (style.width > 0 && !is_dumb) style.charts = charset_from_environment();
  return style;
}

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
  TS_TRY(const std::string text, info_text(*run, style_of(wanted)));
  show_text(text);
  return 0;
}

// As many of its lines as the terminal has, but one for the cursor.
std::string first_lines(const std::string& text, size_t height) {
  size_t end = 0;
  for (size_t lines = 1; lines < height; ++lines) {
    end = text.find('\n', end);
    if (end == std::string::npos) return text;
    ++end;
  }
  return height == 0 ? text : text.substr(0, end);
}

// While the run is recorded, its beginning that fits; at the end all of it, to scroll.
Status redraw(const RunView& run, const InfoFlags& wanted) {
  TS_TRY(const std::string text, info_text(run, style_of(wanted)));
  const bool is_last = run.status() != RunStatus::running;
  redraw_text(is_last ? text : first_lines(text, terminal_height(STDOUT_FILENO)));
  return {};
}

Result<int> follow(const ReadingFlags& flags, const InfoFlags& wanted) {
  if (!flags.json && ::isatty(STDOUT_FILENO) != 1) {
    return Error("info: --follow needs a terminal; use --json --follow for other outputs");
  }
  TS_TRY(const std::string path, find_named_run(flags));
  Json last;
  const auto show_now = [&](const RunView& run) -> Status {
    if (!flags.json) return redraw(run, wanted);
    TS_TRY(Json document, info_json(run, wanted.events));
    if (document != last) print_json_line(document);
    last = std::move(document);
    return {};
  };
  RunFollower follower(path, Followed::run);
  FollowPace pace(STDOUT_FILENO);
  TS_TRY(std::unique_ptr<RunView> run, follower.open());
  while (follower.is_running()) {
    if (run != nullptr) TS_CHECK_OK(show_now(*run));
    run.reset();
    TS_CHECK_OK(pace.pause());
    TS_TRY(run, follower.read_new());
  }
  TS_TRY(run, open_run(path));
  TS_CHECK_OK(show_now(*run));
  const std::string reason = why_unfinished(*run);
  if (!reason.empty()) print_error(reason);
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
  options.add({.name = "--follow",
               .value = "",
               .help = "show it again, at most once per second, until the run ends",
               .set = store_in(wanted->follow)});
  return
      [flags, wanted] { return wanted->follow ? follow(*flags, *wanted) : show(*flags, *wanted); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "info",
    .summary = "show a run or a group: outcome, recording quality and metrics",
    .examples = R"(trainscope info
trainscope info baseline --all
trainscope info baseline~1 --events
trainscope info --follow
trainscope info baseline --json
trainscope info slurm-4711.0)",
    .add = add,
};

}  // namespace trainscope::info_command
