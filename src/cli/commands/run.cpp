// run: starts a job under the recorder and ends as the job did.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/top_source.h"
#include "tui/tui.h"

namespace trainscope::run_command {

namespace {

// The exit code of a job that was not killed by a signal.
int exit_code_of(const Manifest& manifest) {
  if (manifest.ended_by == EndedBy::time_limit) return kExitTimeLimit;
  return manifest.exit_code.value_or(manifest.signal ? 128 + *manifest.signal : 0);
}

// Ends this process with the signal that killed the job, as the caller would see without
// Trainscope. The core dump, if there is one, is the job's; ours would overwrite it.
int die_by(int number) {
  std::fflush(nullptr);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(number);
  return 128 + number;
}

// Ctrl-C and kill mean the whole series; a job that could not start will not start the next time.
bool stops_series(const Manifest& manifest) {
  if (manifest.ended_by == EndedBy::not_started) return true;
  if (manifest.ended_by == EndedBy::time_limit) return false;  // the signal was --for's
  if (manifest.signal) return *manifest.signal == SIGINT || *manifest.signal == SIGTERM;
  const int code = manifest.exit_code.value_or(0);
  return manifest.ended_by == EndedBy::exit && (code == 128 + SIGINT || code == 128 + SIGTERM);
}

bool failed(const Manifest& manifest) { return manifest.signal || exit_code_of(manifest) != 0; }

int end_as(const Manifest& manifest) {
  // A job that --for had to kill also ended by a signal, but scripts check for the limit.
  if (manifest.ended_by != EndedBy::time_limit && manifest.signal) return die_by(*manifest.signal);
  return exit_code_of(manifest);
}

int record_series(RunOptions options) {
  const int64_t repeat = options.repeat;
  std::optional<Manifest> first_failure;
  bool has_runs = false;
  for (int64_t k = 1; k <= repeat; ++k) {
    if (repeat > 1) {
      options.tags["repeat"] = fmt::format("{}/{}", k, repeat);
      options.repeat_of.index = k;
      options.repeat_of.count = repeat;
    }
    auto outcome = record_job(options);
    if (!outcome) {
      print_error(outcome.error().message());
      return kExitFailedBeforeJob;
    }
    conclude_run(*outcome, options.quiet);
    const std::string output = outcome->run_path + "/output.log";
    if (options.screen && outcome->is_closed && !options.quiet && exists(output)) {
      print_message("trainscope: output of the job: {}\n", output);
    }
    has_runs |= outcome->is_closed;
    const Manifest& manifest = outcome->manifest;
    options.repeat_of.group = manifest.repeat.group;
    if (!first_failure && failed(manifest)) first_failure = manifest;
    if (stops_series(manifest)) break;
    // The job may have ignored it, and between two runs there is no job to receive it.
    if (k < repeat && interrupting_signal() != 0) {
      return first_failure ? end_as(*first_failure) : die_by(interrupting_signal());
    }
  }
  if (repeat > 1 && has_runs && !options.quiet) {
    print_message("trainscope: mean and spread: trainscope info {}\n", options.repeat_of.group);
  }
  return first_failure ? end_as(*first_failure) : 0;
}

// Can a screen cover the terminal, and does it belong to us? In the background it would stop the
// job.
Status check_job_screen() {
  struct stat out {
  }, err{};
  const bool is_one = ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 &&
                      ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 &&
                      out.st_rdev == err.st_rdev;
  if (!is_one) {
    return Error("stdout and stderr are not one terminal; use `trainscope top` in another one");
  }
  if (::tcgetpgrp(STDOUT_FILENO) != ::getpgrp()) {
    return Error("the job is not in the foreground of this terminal; use `trainscope top` later");
  }
  return check_screen();
}

// Runs in its own process.
int show_job(const std::string& run_path) {
  const auto shown = show_top(top_source(run_path), {Theme::automatic, true});
  return shown ? 0 : 1;
}

Result<int> run(const std::vector<std::string>& job, const Settings& settings, bool top) {
  TS_TRY(RunOptions options, recording_options(settings));
  options.command = job;
  if (options.command.empty() || options.command.front().empty()) {
    return Error("run: no command given; try: trainscope run -- COMMAND…");
  }
  if (top) {
    TS_CHECK_OK(check_job_screen().with_context("run: --top"));
    options.screen = show_job;
  }
  return record_series(std::move(options));
}

std::function<Result<int>()> add(Options& options, const Settings& loaded) {
  auto settings = std::make_shared<Settings>(loaded);
  add_recording_flags(options, settings, "run");
  auto top = std::make_shared<bool>(false);
  options.add({.name = "--top",
               .value = "",
               .help = "show the run on the whole terminal while the job runs; its output goes to "
                       "output.log, and it reads /dev/null instead of the terminal",
               .set = store_in(*top)});
  options.take_job();
  return [&options, settings, top] { return run(options.job, *settings, *top); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "run",
    .summary = "run a job and record it",
    .examples = R"(trainscope run -- python train.py --epochs 3
trainscope run --name baseline --every 10ms -- ./train
trainscope run --for 75m --grace 30s --tag lr=0.1 -- torchrun --nproc-per-node 8 train.py
trainscope run --repeat 5 --name after-fix -- ./train
trainscope run --top -- python train.py)",
    .add = add,
};

}  // namespace trainscope::run_command
