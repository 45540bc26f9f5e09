// demo: the whole story on the built-in workload: a slow job, its verdict, the same job with the
// advice followed, their comparison and a report.
//
// The job computes on one thread: threads that wait for each other on a core that somebody else
// uses take many times as long, and the story would be about that. It is compared once, not in
// repeats: two of them per side say less than the steps of one.
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/fd.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/compare_text.h"
#include "cli/exit_codes.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/recording.h"
#include "cli/report_writer.h"
#include "cli/summary.h"
#include "cli/table.h"

namespace trainscope::demo_command {

namespace {

constexpr const char* kWorkload = "trainscope-workload";
constexpr int64_t kMaxSeconds = 3600, kLongerTimes = 3;
constexpr const char* kSlowInput = "slow:20ms";
// The same job for a probe.
constexpr const char* kSlowOptions = "train --threads 1 --input slow:20ms";
// A job that needs nothing but a shell.
constexpr const char* kSmallJob =
    R"(trainscope run -- sh -c 'for i in $(seq 50); do echo "Step $i/50, Loss: 0.5"; sleep 0.1; done')";

struct DemoFlags {
  std::shared_ptr<Settings> settings;
  std::string seconds = "12";
};

bool runs(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// Packages do not contain the workload, because it needs libtorch: only a source tree can build it.
Error no_workload(const std::string& folder) {
  const bool is_source_tree = ::access((folder + "/../workload/CMakeLists.txt").c_str(), F_OK) == 0;
  return Error(fmt::format(
      "demo: cannot find {}{}; {}, or record your own job: trainscope run -- "
      "COMMAND…",
      kWorkload, is_source_tree ? "" : ", which needs libtorch and is not in the packages",
      is_source_tree ? "run `make build` (needs libtorch)"
                     : fmt::format("try a job without it: {}", kSmallJob)));
}

std::string own_path() {
  char self[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", self, sizeof self);
  return {self, size > 0 ? static_cast<size_t>(size) : 0};
}

// "" if no folder of PATH has this program.
std::string find_in_path(const std::string& program) {
  const char* list = std::getenv("PATH");
  for (const std::string_view place : split(list == nullptr ? "" : list, ':')) {
    std::string path = std::string(place) + "/" + program;
    if (place.starts_with('/') && runs(path)) return path;
  }
  return "";
}

// Next to this program first: that is the one that was built with it.
Result<std::string> find_workload() {
  const std::string program = own_path(), folder = program.substr(0, program.rfind('/'));
  if (const std::string path = folder + "/" + kWorkload; runs(path)) return path;
  if (const std::string path = find_in_path(kWorkload); !path.empty()) return path;
  return no_workload(folder);
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

// A program as one types it here: its name if the shell finds it, otherwise a path from here on.
std::string typed(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  const std::string found = find_in_path(name);
  if (!found.empty() && is_same_file(found, path)) return name;
  const std::string here = current_folder() + "/";
  return command_text({path.starts_with(here) ? path.substr(here.size()) : path});
}

// One of the two runs of the story.
struct DemoJob {
  std::string name;                  // after that of the demo: "slow-input"
  std::string heading;               // what is done and why
  std::vector<std::string> options;  // of the workload
};

struct DemoRun {
  RecordOutcome outcome;
  int exit_code = 0;
};

// Nothing if the job could not be started; the reason has been printed.
std::optional<DemoRun> record(const RunOptions& common, const std::vector<std::string>& command,
                              const DemoJob& job) {
  RunOptions options = common;
  options.name += "-" + job.name;
  options.command = command;
  options.command.insert(options.command.end(), job.options.begin(), job.options.end());
  if (!options.quiet) print_message("\ntrainscope: {}\n", job.heading);
  auto outcome = record_job(options);
  if (!outcome) {
    print_error(outcome.error().message());
    return std::nullopt;
  }
  conclude_run(*outcome, options.quiet);
  const Manifest& m = outcome->manifest;
  const int code = m.exit_code.value_or(m.signal ? 128 + *m.signal : 0);
  return DemoRun{std::move(*outcome), code};
}

// report.html, or a name of its own if there is one already: nothing of the user's is replaced.
std::string report_file(const RecordOutcome& last) {
  return exists("report.html") ? fmt::format("report-{}.html", last.manifest.id) : "report.html";
}

// If the comparison does not show the effect that there is: what may have hidden it, and what to
// do.
std::string unclear_text(const Comparison& comparison, int64_t seconds) {
  if (comparison.speed.verdict == "faster") return "";
  std::string text =
      "\nThe second run waits for no data, and this comparison does not show that it is faster.\n";
  for (const ComparisonWarning& warning : comparison.warnings) {
    if (warning.id != "neighbour") continue;
    text += "The machine was busy: " + warning.summary + ".\n";
  }
  return text +
         fmt::format(
             "Repeat it when the machine is idle, or with longer runs: {} demo --seconds {}\n",
             typed(own_path()), std::min(kLongerTimes * seconds, kMaxSeconds));
}

std::string next_text(const RecordOutcome& slow, const RecordOutcome& fast) {
  const std::string program = typed(own_path()), first = slow.manifest.id;
  return fmt::format(
      "Then try:\n"
      "  {0} view {1} {2}   # their charts, to explore\n"
      "  {0} diagnose {1} --explain   # what each rule saw\n"
      "  {0} probe --for 1m -- {3} {4} --seconds 60   # the proof\n"
      "  {0} run -- python train.py   # your own job\n",
      program, first, fast.manifest.id, typed(slow.manifest.command.front()), kSlowOptions);
}

// What both runs show together.
Status conclude_demo(const RecordOutcome& slow, const RecordOutcome& fast, bool is_quiet,
                     int64_t seconds) {
  TS_TRY(const ReportContent content, read_report({{slow.run_path}, {fast.run_path}}));
  const Comparison& comparison = content.comparisons.front();
  if (!is_quiet) {
    const CompareStyle style{false, false, colour_wanted(STDERR_FILENO),
                             terminal_width(STDERR_FILENO)};
    print_message("\ntrainscope: comparing the two\n");
    print_message_text(comparison_text(comparison, style) + unclear_text(comparison, seconds));
  }
  TS_TRY(const std::string html, html_report(content));
  const std::string file = report_file(fast);
  TS_CHECK_OK(write_output_file(file, false, [&](const OutputSink& sink) { return sink(html); }));
  if (is_quiet) return {};
  print_message("\nOpen {} in a browser: both runs with their charts, in one file.\n",
                absolute_path(file, current_folder()));
  print_message_text(next_text(slow, fast));
  return {};
}

Result<int> demo(const DemoFlags& flags) {
  const auto seconds = parse_integer(flags.seconds);
  if (!seconds || *seconds < 1 || *seconds > kMaxSeconds) {
    return Error(fmt::format("--seconds: '{}' is not an integer from 1 to {}",
                             printable(flags.seconds), kMaxSeconds));
  }
  TS_TRY(const std::string workload, find_workload());
  Settings& settings = *flags.settings;
  if (settings.get("name").value.empty()) settings.set_from_flag("name", "demo");
  TS_TRY(const RunOptions options, recording_options(settings));
  const std::vector<std::string> command = {workload,    "train", "--model",   "digits_cnn",
                                            "--threads", "1",     "--seconds", flags.seconds};
  const DemoJob slow = {"slow-input",
                        fmt::format("training a small CNN for {} s; its data comes late, "
                                    "20 ms in every step",
                                    *seconds),
                        {"--input", kSlowInput}};
  const DemoJob fast = {
      "fast-input",
      fmt::format(
          "the verdict followed: the same training for {} s with data that is ready in time",
          *seconds),
      {}};
  const auto first = record(options, command, slow);
  if (!first) return kExitFailedBeforeJob;
  if (first->exit_code != 0 || interrupting_signal() != 0) return first->exit_code;
  if (!first->outcome.is_closed) return Error("demo: nothing was recorded that could be compared");
  const auto second = record(options, command, fast);
  if (!second) return kExitFailedBeforeJob;
  if (second->exit_code != 0) return second->exit_code;
  TS_CHECK_OK(conclude_demo(first->outcome, second->outcome, options.quiet, *seconds));
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<DemoFlags>();
  flags->settings = std::make_shared<Settings>(settings);
  options.add({.name = "--seconds",
               .value = "N",
               .help = "training time of each of the two runs in seconds (default: 12)",
               .set = store_in(flags->seconds)});
  add_recording_flags(options, flags->settings, "demo");
  return [flags] { return demo(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "demo",
    .summary = "record the built-in workload slow and fast, compare both and write report.html",
    .examples = R"(trainscope demo
trainscope demo --seconds 5)",
    .add = add,
};

}  // namespace trainscope::demo_command
