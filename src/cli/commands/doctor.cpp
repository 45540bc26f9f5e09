// doctor: what this machine can measure, and how to enable the rest; with --measure its limits.
#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/limits_text.h"
#include "cli/missing_text.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/source_check.h"
#include "cli/summary.h"
#include "kernel/cgroup_limits.h"
#include "kernel/host_name.h"
#include "limits/limits.h"
#include "store/store.h"

namespace trainscope::doctor_command {

namespace {

constexpr int64_t kDeadlineNs = 6 * kNsPerSecond;  // a GPU driver may take seconds to start

struct Line {
  std::string name, text;
  OrderedJson value;
};

Line kernel_line() {
  const auto release = read_line("/proc/sys/kernel/osrelease");
  return {"kernel", release ? *release : "unknown",
          release ? OrderedJson(*release) : OrderedJson(nullptr)};
}

Line cgroup_line() {
  const CgroupLimits limits = read_cgroup_limits("", 0);
  const std::string cpus = limits.cpus ? fmt::format("{:g} CPUs", *limits.cpus) : "no CPU limit";
  const std::string memory = limits.memory_bytes
                                 ? bytes_text(static_cast<double>(*limits.memory_bytes))
                                 : "no memory limit";
  OrderedJson value = {{"version", limits.version}, {"cpus", nullptr}, {"memory_bytes", nullptr}};
  if (limits.cpus) value["cpus"] = *limits.cpus;
  if (limits.memory_bytes) value["memory_bytes"] = *limits.memory_bytes;
  return {"cgroup", fmt::format("{}: {}, {}", limits.version, cpus, memory), value};
}

// The folder of the runs, or the nearest one above it that exists.
std::string nearest_folder(std::string path) {
  while (!path.empty() && !exists(path))
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  return path.empty() ? "/" : path;
}

Line home_line(const std::string& home) {
  const std::string folder = nearest_folder(home);
  const bool writable = ::access(folder.c_str(), W_OK) == 0;
  struct statvfs info {};
  const bool known = ::statvfs(folder.c_str(), &info) == 0;
  const auto free = static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
  OrderedJson value = {{"path", home}, {"writable", writable}, {"free_bytes", nullptr}};
  if (known) value["free_bytes"] = free;
  std::string text = home + (writable ? ": writable" : ": NOT writable; set TRAINSCOPE_HOME");
  if (known) text += ", " + bytes_text(static_cast<double>(free)) + " free";
  return {"home", text, value};
}

// How much longer than 1 ms a sleep takes: the precision of periods of milliseconds.
Line clock_line() {
  timespec resolution{};
  ::clock_getres(CLOCK_MONOTONIC, &resolution);
  int64_t worst = 0;
  for (int i = 0; i < 20; ++i) {
    const int64_t due = monotonic_ns() + 1'000'000;
    const timespec until = to_timespec(due);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) continue;
    worst = std::max(worst, monotonic_ns() - due);
  }
  const auto known = read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string source = known ? *known : "unknown";
  OrderedJson value = {{"source", source},
                       {"resolution_s", to_seconds(resolution.tv_nsec)},
                       {"sleep_late_max_s", to_seconds(worst)}};
  return {"clock",
          fmt::format("{}, resolution {} ns, sleep overrun at most {}", source, resolution.tv_nsec,
                      duration_text(to_seconds(worst))),
          value};
}

std::vector<CheckedSource> check_all_sources(const Settings& settings) {
  // Nothing is recorded, but the overhead metrics can still be read from this process.
  static SelfLink self;
  self.supervisor_pid = ::getpid();
  SourceContext context;
  context.self = &self;
  context.run_folder = settings.home();
  context.working_directory = current_folder();
  std::vector<CheckedSource> found;
  for (const Collector* collector : collectors()) {
    found.push_back(check_source_within(*collector, context, kDeadlineNs));
  }
  return found;
}

struct Flags {
  bool json = false, measure = false;
  std::vector<std::string> only;
  std::string data, each, size;
};

// What was measured on this host, now or earlier. `problem` is why it is unknown.
struct KnownLimits {
  MachineLimits limits;
  std::string problem;
};

KnownLimits stored_limits(const Settings& settings) {
  KnownLimits known;
  auto stored = read_host_limits(settings.home(), host_name());
  if (!stored) known.problem = stored.error().message();
  if (!stored || !*stored) return known;
  if (may_apply_to(**stored, machine_kind(processor_model(""), online_processors()))) {
    known.limits = std::move(**stored);
  } else {
    known.problem = fmt::format("{} was measured on another machine: {}",
                                host_limits_path(settings.home(), host_name()), (*stored)->machine);
  }
  return known;
}

Result<MeasureOptions> measure_options(const Flags& flags) {
  MeasureOptions options;
  options.only = flags.only;
  options.data_folder = flags.data.empty() ? current_folder() : flags.data;
  if (!flags.each.empty()) {
    TS_TRY(options.each_ns, parse_duration(flags.each).with_context("--each"));
    if (options.each_ns < 10 * kNsPerMs || options.each_ns > 10 * kNsPerSecond) {
      return Error(fmt::format("--each {}: must be from 10ms to 10s", flags.each));
    }
  }
  if (!flags.size.empty()) {
    const auto mib = parse_integer(flags.size);
    if (!mib || *mib < 1 || *mib > 65536) {
      return Error(fmt::format("--size {}: must be an integer from 1 to 65536", flags.size));
    }
    options.scratch_bytes = *mib << 20;
  }
  if (::isatty(STDERR_FILENO) == 1) {
    options.progress = [](const std::string& what) { print_message("measuring {}\n", what); };
  }
  return options;
}

// Stores them: `run` copies them into the runs of this host.
Result<KnownLimits> measure(const Flags& flags, const Settings& settings) {
  TS_TRY(const MeasureOptions options, measure_options(flags));
  if (::access(nearest_folder(settings.home()).c_str(), W_OK) != 0) {
    return Error(fmt::format("cannot store limits in {}: {}; set TRAINSCOPE_HOME to another folder",
                             printable(settings.home()), std::strerror(errno)));
  }
  TS_TRY(const MachineLimits fresh, measure_limits(options));
  KnownLimits known = stored_limits(settings);
  known.problem.clear();  // a damaged file is replaced, and one of another machine
  merge_limits(known.limits, fresh);
  TS_CHECK_OK(write_host_limits(settings.home(), known.limits));
  return known;
}

Status check_flags(const Flags& flags) {
  const std::pair<const char*, bool> needing[] = {{"--only", !flags.only.empty()},
                                                  {"--data", !flags.data.empty()},
                                                  {"--each", !flags.each.empty()},
                                                  {"--size", !flags.size.empty()}};
  for (const auto& [name, is_given] : needing) {
    if (is_given && !flags.measure) {
      return Error(fmt::format("doctor: {} needs --measure; try: trainscope doctor --measure {} …",
                               name, name));
    }
  }
  return {};
}

void print_json(const std::vector<CheckedSource>& sources, const std::vector<Line>& machine,
                const KnownLimits& known) {
  OrderedJson document = {{"schema", "trainscope.doctor/1"}};
  document["sources"] = OrderedJson::array();
  for (const CheckedSource& source : sources) {
    OrderedJson missing = OrderedJson::array();
    for (const CheckedMetric& metric : source.missing) {
      missing.push_back({{"name", metric.name},
                         {"reason", text_or_null(metric.reason)},
                         {"remedy", text_or_null(metric.remedy)}});
    }
    document["sources"].push_back({{"name", source.name},
                                   {"status", source.status},
                                   {"reason", text_or_null(source.reason)},
                                   {"remedy", text_or_null(source.remedy)},
                                   {"metrics", source.metrics},
                                   {"missing", missing}});
  }
  document["machine"] = OrderedJson::object();
  for (const Line& line : machine) document["machine"][line.name] = line.value;
  add_limits(known.limits, document);
  if (!known.problem.empty()) document["limits_problem"] = known.problem;
  (void)write_stdout(json_text(document) +
                     "\n");  // the command line checks that the output was written
}

std::string styled(const std::string& status, bool colour) {
  std::string padded = fmt::format("{:<11}", status);
  if (!colour) return padded;
  const char* style = status == "ok" ? "\x1b[32m" : status == "partial" ? "\x1b[33m" : "\x1b[31m";
  return style + padded + "\x1b[0m";
}

void print_limits(const KnownLimits& known) {
  if (!known.problem.empty()) {
    show("{:<16} unknown: {}\n{:<16}      try: trainscope doctor --measure\n", "limits",
         known.problem, "");
  }
  show_text(limits_text(known.limits));
}

void print_text(const std::vector<CheckedSource>& sources, const std::vector<Line>& machine,
                const KnownLimits& known) {
  const bool colour = colour_wanted(STDOUT_FILENO);
  for (const Line& line : machine) show("{:<16} {}\n", line.name, line.text);
  print_limits(known);
  show_text("\n");
  for (const CheckedSource& source : sources) {
    show("{:<16} ", source.name);
    show_text(styled(source.status, colour));
    show(" {}\n", source.summary);
    if (!source.metrics.empty()) {
      show("{:<16}   {}\n", "", fmt::join(source.metrics, " "));
    }
    show_text(missing_text(source.missing));
  }
  const auto count = [&](std::string_view status) {
    return std::count_if(sources.begin(), sources.end(),
                         [&](const CheckedSource& source) { return source.status == status; });
  };
  show("\n{} sources: {} ok, {} partial, {} unavailable\n", sources.size(), count("ok"),
       count("partial"), count("unavailable"));
}

void add_measure_flags(Options& options, Flags& flags) {
  options.add({.name = "--measure",
               .value = "",
               .help =
                   "measure the limits of this machine, in less than a minute, and store them for "
                   "diagnose; other programs should be idle",
               .set = store_in(flags.measure)});
  std::vector<std::string> kinds;
  for (const LimitKind* kind : limit_kinds()) kinds.emplace_back(kind->name);
  options.add({.name = "--only",
               .value = "KIND",
               .help = "measure only this kind of limit; repeatable",
               .choices = kinds,
               .repeats = true,
               .set = store_in(flags.only)});
  options.add({.name = "--data",
               .value = "DIR",
               .help = "measure storage where DIR is (default: the working directory)",
               .set = store_in(flags.data)});
  options.add({.name = "--each",
               .value = "DURATION",
               .help = "time for each number, 10ms to 10s (default: 1.5s)",
               .set = store_in(flags.each)});
  options.add({.name = "--size",
               .value = "MIB",
               .help = "size of the scratch file for storage, 1 to 65536 (default: 1024)",
               .set = store_in(flags.size)});
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<Flags>();
  options.add({.name = "--json", .value = "", .help = kJsonHelp, .set = store_in(flags->json)});
  add_measure_flags(options, *flags);
  return [flags, settings]() -> Result<int> {
    TS_CHECK_OK(check_flags(*flags));
    TS_TRY(const KnownLimits known,
           flags->measure ? measure(*flags, settings) : Result(stored_limits(settings)));
    const auto sources = check_all_sources(settings);
    const std::vector<Line> machine = {kernel_line(), cgroup_line(), home_line(settings.home()),
                                       clock_line()};
    flags->json ? print_json(sources, machine, known) : print_text(sources, machine, known);
    return 0;
  };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "doctor",
    .summary = "show what this machine can measure and how to enable the rest",
    .examples = R"(trainscope doctor
trainscope doctor --measure --data /data/imagenet
trainscope doctor --json | jq '.sources[] | select(.status != "ok")')",
    .add = add,
};

}  // namespace trainscope::doctor_command
