// demo: the whole story on the built-in workload.
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/print.h"
#include "cli/recording.h"

namespace trainscope {

namespace {

constexpr const char* kWorkload = "trainscope-workload";
constexpr int64_t kMaxSeconds = 3600;
// A job that needs nothing but a shell.
constexpr const char* kSmallJob =
    R"(trainscope run -- sh -c 'for i in $(seq 50); do echo "Step $i/50, Loss: 0.5"; sleep 0.1; done')";

struct DemoFlags {
  std::shared_ptr<Settings> settings;
  std::string seconds = "20";
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

Result<int> demo(const DemoFlags& flags) {
  const auto seconds = parse_integer(flags.seconds);
  if (!seconds || *seconds < 1 || *seconds > kMaxSeconds) {
    return Error(fmt::format("--seconds: '{}' is not an integer from 1 to {}",
                             printable(flags.seconds), kMaxSeconds));
  }
  TS_TRY(const std::string workload, find_workload());
  Settings& settings = *flags.settings;
  if (settings.get("name").value.empty()) settings.set_from_flag("name", "demo");
  TS_TRY(RunOptions options, recording_options(settings));
  options.command = {workload, "train", "--model", "digits_cnn", "--seconds", flags.seconds};
  if (!options.quiet) {
    print_message("trainscope: recording {} s of training (a small CNN on digits)\n", *seconds);
  }
  auto outcome = record_job(options);
  if (!outcome) {
    print_error(outcome.error().message());
    return kExitFailedBeforeJob;
  }
  conclude_run(*outcome, options.quiet);
  const Manifest& manifest = outcome->manifest;
  return manifest.exit_code.value_or(manifest.signal ? 128 + *manifest.signal : 0);
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<DemoFlags>();
  flags->settings = std::make_shared<Settings>(settings);
  options.add({.name = "--seconds",
               .value = "N",
               .help = "training time in seconds (default: 20)",
               .set = store_in(flags->seconds)});
  add_recording_flags(options, flags->settings, "demo");
  return [flags] { return demo(*flags); };
}

}  // namespace

extern const Command demo_command;
const Command demo_command = {
    .name = "demo",
    .summary = "record the built-in workload and print the summary",
    .examples = R"(trainscope demo
trainscope demo --seconds 5)",
    .add = add,
};

}  // namespace trainscope
