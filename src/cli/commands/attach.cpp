// attach: records a job that already runs, and leaves it alone.
#include "cli/attach_target.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/print.h"
#include "cli/recording.h"

namespace trainscope::attach_command {

namespace {

// Of several processes, the one that started the others: its children are followed anyway. Some may
// have ended since pgrep listed them.
Result<pid_t> process_to_follow(const std::vector<std::string>& texts) {
  TS_TRY(const std::vector<pid_t> given, parse_process_ids(texts));
  std::vector<pid_t> running;
  for (const pid_t pid : given) {
    if (parent_of_process(pid) > 0 || pid == 1) running.push_back(pid);
  }
  if (running.empty()) running.push_back(given.front());
  TS_TRY(const pid_t root, common_root(running, parent_of_process));
  TS_CHECK_OK(check_readable(root));
  return root;
}

Result<int> attach(const std::vector<std::string>& pids, const Settings& settings) {
  TS_TRY(RunOptions options, recording_options(settings));
  TS_TRY(options.attach_pid, process_to_follow(pids));
  options.steps_from.clear();  // the output of a running job cannot be read
  auto outcome = record_attached(options);
  if (!outcome) {
    print_error(outcome.error().message());
    return kExitFailedBeforeJob;
  }
  conclude_run(*outcome, options.quiet);
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& loaded) {
  auto settings = std::make_shared<Settings>(loaded);
  auto pids = std::make_shared<std::vector<std::string>>();
  options.add({.name = "PID",
               .value = "PID",
               .help = "first process of the job, or several as pgrep prints them, of which one "
                       "started the others; children are recorded as well",
               .is_required = true,
               .repeats = true,
               .set = store_in(*pids)});
  add_recording_flags(options, settings, "attach");
  return [settings, pids] { return attach(*pids, *settings); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "attach",
    .summary = "record a job that is already running",
    .examples = R"(trainscope attach 4711
trainscope attach $(pgrep -f train.py) --for 10m --name spike)",
    .add = add,
};

}  // namespace trainscope::attach_command
