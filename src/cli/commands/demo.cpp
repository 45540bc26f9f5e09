// demo: the whole story on the built-in workload: a slow job, its verdict, the same job with the
// advice followed, their comparison and a report.
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

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

namespace trainscope {

namespace {

constexpr const char* kWorkload = "trainscope-workload";
constexpr int64_t kMaxSeconds = 3600;
constexpr const char* kSlowInput = "slow:20ms";
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

// Next to this program first: that is the one that was built with it.
Result<std::string> find_workload() {
  char self[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", self, sizeof self);
  const std::string program(self, size > 0 ? static_cast<size_t>(size) : 0);
  const std::string folder = program.substr(0, program.rfind('/'));
  if (const std::string path = folder + "/" + kWorkload; runs(path)) return path;
  const char* list = std::getenv("PATH");
  for (const std::string_view place : split(list == nullptr ? "" : list, ':')) {
    const std::string path = std::string(place) + "/" + kWorkload;
    if (place.starts_with('/') && runs(path)) return path;
  }
  return no_workload(folder);
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

// What both runs show together.
Status conclude_demo(const RecordOutcome& slow, const RecordOutcome& fast, bool is_quiet) {
  TS_TRY(const ReportContent content, read_report({{slow.run_path}, {fast.run_path}}));
  TS_TRY(const std::string html, html_report(content));
  const std::string file = report_file(fast);
  TS_CHECK_OK(write_output_file(file, false, [&](const OutputSink& sink) { return sink(html); }));
  if (is_quiet) return {};
  const CompareStyle style{false, false, colour_wanted(STDERR_FILENO),
                           terminal_width(STDERR_FILENO)};
  print_message("\ntrainscope: comparing the two\n");
  print_message_text(comparison_text(content.comparisons.front(), style));
  const std::string first = slow.manifest.id, second = fast.manifest.id;
  print_message(
      "\nOpen {} in a browser: both runs with their charts, in one file.\n"
      "Then try:\n"
      "  trainscope diagnose {} --explain\n"
      "  trainscope compare {} {}\n"
      "  trainscope run -- python train.py\n",
      absolute_path(file, current_folder()), first, first, second);
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
  const std::vector<std::string> command = {workload,     "train",     "--model",
                                            "digits_cnn", "--seconds", flags.seconds};
  const DemoJob slow = {"slow-input",
                        fmt::format("training a small CNN on digits for {} s; its data comes late, "
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
  const auto second = record(options, command, fast);
  if (!second) return kExitFailedBeforeJob;
  if (second->exit_code != 0) return second->exit_code;
  TS_CHECK_OK(conclude_demo(first->outcome, second->outcome, options.quiet));
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

extern const Command demo_command;
const Command demo_command = {
    .name = "demo",
    .summary = "record the built-in workload slow and fast, compare both and write report.html",
    .examples = R"(trainscope demo
trainscope demo --seconds 5)",
    .add = add,
};

}  // namespace trainscope
