// attach: records a job that already runs, and leaves it alone.
#include <errno.h>
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>

#include "base/fd.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/print.h"
#include "cli/recording.h"

namespace trainscope {

namespace {

// Recording needs permission to read the files of the process, not to signal it.
Result<pid_t> process_to_follow(const std::string& text) {
  const auto pid = parse_integer(text);
  if (!pid || *pid < 1 || *pid > 4'194'304) {
    return Error(fmt::format("attach: '{}' is not a process id", printable(text)));
  }
  if (!exists(fmt::format("/proc/{}", *pid))) {
    return Error(fmt::format("attach: process {} does not exist", *pid));
  }
  const auto status = read_file(fmt::format("/proc/{}/io", *pid), 65536);
  if (!status &&
      (status.error().error_number() == EACCES || status.error().error_number() == EPERM)) {
    return Error(
        fmt::format("attach: cannot read process {}: it belongs to another user; try: sudo "
                    "trainscope attach {}",
                    *pid, *pid));
  }
  return static_cast<pid_t>(*pid);
}

Result<int> attach(const std::string& pid, const Settings& settings) {
  TS_TRY(RunOptions options, recording_options(settings));
  TS_TRY(options.attach_pid, process_to_follow(pid));
  options.steps_from.clear();  // the output of a running job cannot be read
  auto outcome = record_attached(options);
  if (!outcome) {
    print_error(outcome.error().message());
    return kExitFailedBeforeJob;
  }
  if (!options.quiet) print_run_summary(*outcome);
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& loaded) {
  auto settings = std::make_shared<Settings>(loaded);
  auto pid = std::make_shared<std::string>();
  options.add({.name = "PID",
               .value = "PID",
               .help = "first process of the job; its children are recorded as well",
               .is_required = true,
               .set = store_in(*pid)});
  add_recording_flags(options, settings, "attach");
  return [settings, pid] { return attach(*pid, *settings); };
}

}  // namespace

extern const Command attach_command;
const Command attach_command = {
    .name = "attach",
    .summary = "record a job that is already running",
    .examples = R"(trainscope attach 4711
trainscope attach $(pgrep -f train.py) --for 10m --name spike)",
    .add = add,
};

}  // namespace trainscope
