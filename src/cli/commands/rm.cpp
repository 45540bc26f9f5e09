// trainscope rm: removes runs, after asking.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/run_in_use.h"
#include "cli/table.h"
#include "format/format.h"
#include "store/store.h"

namespace trainscope::rm_command {

namespace {

struct RmFlags {
  std::shared_ptr<ReadingFlags> reading;
  std::vector<std::string> runs;
  std::string older_than;
  bool yes = false, force = false;
};

struct RunToRemove {
  std::string path, title, started;
  int64_t bytes = 0;
};

Result<RunToRemove> describe_run(const std::string& path) {
  RunToRemove entry{path, path, "", 0};
  if (const auto manifest = read_manifest(path)) {
    entry.title = manifest->id;
    if (!manifest->name.empty()) entry.title += " " + manifest->name;
    entry.started = local_time_text(manifest->started);
  }
  TS_TRY(entry.bytes, run_disk_bytes(path));
  return entry;
}

Result<std::vector<RunToRemove>> named_runs(const RmFlags& flags) {
  std::vector<RunToRemove> to_remove;
  std::set<std::string> seen;
  for (const std::string& text : flags.runs) {
    TS_TRY(const std::vector<std::string> paths, find_runs(flags.reading->home, text));
    for (std::string path : paths) {
      while (path.size() > 1 && path.ends_with('/')) path.pop_back();
      if (!seen.insert(path).second) continue;
      if (const std::string reason = reason_in_use(path, flags.force); !reason.empty()) {
        return Error(fmt::format("cannot remove {}; nothing was removed", reason));
      }
      TS_TRY(RunToRemove entry, describe_run(path));
      to_remove.push_back(std::move(entry));
    }
  }
  return to_remove;
}

// Damaged runs have no time to be judged by: they are removed by name only.
Result<std::vector<RunToRemove>> old_runs(const RmFlags& flags) {
  TS_TRY(const int64_t age_ns, parse_duration(flags.older_than).with_context("--older-than"));
  TS_TRY(const std::vector<RunListing> runs, list_runs(flags.reading->home));
  std::vector<RunToRemove> to_remove;
  for (const RunListing& run : runs) {
    const int64_t started = utc_from_text(run.manifest.started);
    if (run.status == RunStatus::damaged || started < 0 || realtime_ns() - started < age_ns)
      continue;
    if (const std::string reason = reason_in_use(run.path, flags.force); !reason.empty()) {
      print_message("kept {}\n", reason);
      continue;
    }
    TS_TRY(RunToRemove entry, describe_run(run.path));
    to_remove.push_back(std::move(entry));
  }
  return to_remove;
}

// Everything that is going to be removed.
void show_runs(const std::vector<RunToRemove>& to_remove) {
  Table table({"run", "started", ">size"});
  for (const RunToRemove& entry : to_remove) {
    table.add({entry.title, entry.started, bytes_text(static_cast<double>(entry.bytes))});
  }
  print_message_text(table.text(false, 0, "  "));
}

Result<bool> confirm_removal(const std::vector<RunToRemove>& to_remove, bool yes) {
  if (!yes && ::isatty(STDIN_FILENO) != 1) {
    return Error("rm: cannot ask for confirmation: stdin is not a terminal; use --yes");
  }
  if (!yes || to_remove.size() > 1) show_runs(to_remove);
  if (yes) return true;
  int64_t bytes = 0;
  for (const RunToRemove& entry : to_remove) bytes += entry.bytes;
  print_message("remove {}, {}? [y/N] ", counted(static_cast<int64_t>(to_remove.size()), "run"),
                bytes_text(static_cast<double>(bytes)));
  std::string answer;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar()) {
    answer += static_cast<char>(c);
  }
  answer = lower(trim(answer));
  return answer == "y" || answer == "yes";
}

Result<int> remove(const RmFlags& flags) {
  if (flags.runs.empty() == flags.older_than.empty()) {
    return Error("rm: use either RUN or --older-than DURATION");
  }
  TS_TRY(const std::vector<RunToRemove> to_remove,
         flags.runs.empty() ? old_runs(flags) : named_runs(flags));
  if (to_remove.empty()) {
    print_message("no run is older than {}\n", flags.older_than);
    return 0;
  }
  TS_TRY(const bool go, confirm_removal(to_remove, flags.yes));
  if (!go) {
    print_message("nothing was removed\n");
    return 1;
  }
  int64_t bytes = 0;
  for (const RunToRemove& entry : to_remove) {
    TS_TRY(const Removed removed, remove_run(entry.path));
    bytes += removed.bytes;
    show("removed {}, {}\n", entry.title, bytes_text(static_cast<double>(removed.bytes)));
    for (const std::string& name : removed.foreign) {
      print_message("kept {}/{}: it was not created by Trainscope\n", entry.path, name);
    }
  }
  if (to_remove.size() > 1) {
    show("{} runs, {}\n", to_remove.size(), bytes_text(static_cast<double>(bytes)));
  }
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<RmFlags>();
  flags->reading = add_reading_flags(options, settings, false);
  options.add({.name = "RUN",
               .value = "RUN",
               .help = "runs to remove: folders, ids, latest; a name or 'NAME*' means all of them",
               .repeats = true,
               .set = store_in(flags->runs)});
  options.add({.name = "--older-than",
               .value = "DURATION",
               .help = "remove runs that started more than DURATION ago",
               .set = store_in(flags->older_than)});
  options.add({.name = "-y,--yes",
               .value = "",
               .help = "do not ask for confirmation",
               .set = store_in(flags->yes)});
  options.add({.name = "--force",
               .value = "",
               .help = "also remove runs of other hosts that may still be running",
               .set = store_in(flags->force)});
  return [flags] { return remove(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "rm",
    .summary = "remove runs",
    .examples = R"(trainscope rm latest
trainscope rm 'test*'
trainscope rm --older-than 30d --yes)",
    .add = add,
};

}  // namespace trainscope::rm_command
