// doctor: what this machine can measure, and how to enable the rest.
#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/probe.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "kernel/cgroup_limits.h"

namespace trainscope {

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

std::vector<ProbedSource> probe_all(const Settings& settings) {
  // Nothing is recorded, but the overhead metrics can still be read from this process.
  static SelfLink self;
  self.supervisor_pid = ::getpid();
  SourceContext context;
  context.self = &self;
  context.run_folder = settings.home();
  context.working_directory = current_folder();
  std::vector<ProbedSource> found;
  for (const Collector* collector : collectors()) {
    found.push_back(probe_within(*collector, context, kDeadlineNs));
  }
  return found;
}

void print_json(const std::vector<ProbedSource>& sources, const std::vector<Line>& machine) {
  OrderedJson document = {{"schema", "trainscope.doctor/1"}};
  document["sources"] = OrderedJson::array();
  for (const ProbedSource& source : sources) {
    OrderedJson missing = OrderedJson::array();
    for (const ProbedMetric& metric : source.missing) {
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
  (void)write_stdout(json_text(document) +
                     "\n");  // the command line checks that the output was written
}

std::string styled(const std::string& status, bool colour) {
  std::string padded = fmt::format("{:<11}", status);
  if (!colour) return padded;
  const char* style = status == "ok" ? "\x1b[32m" : status == "partial" ? "\x1b[33m" : "\x1b[31m";
  return style + padded + "\x1b[0m";
}

// Metrics that are missing for the same reason, listed together.
void print_missing(const std::vector<ProbedMetric>& missing) {
  for (size_t i = 0; i < missing.size(); ++i) {
    const auto same = [&](const ProbedMetric& other) {
      return other.reason == missing[i].reason && other.remedy == missing[i].remedy;
    };
    if (std::any_of(missing.begin(), missing.begin() + static_cast<long>(i), same)) continue;
    std::vector<std::string> names;
    for (const ProbedMetric& other : missing) {
      if (same(other)) names.push_back(other.name);
    }
    const size_t more = names.size() > 3 ? names.size() - 2 : 0;
    if (more > 0) names.resize(2);
    show("{:<16}   no {}{}: {}\n", "", fmt::join(names, ", "),
         more > 0 ? fmt::format(" and {} more", more) : "", missing[i].reason);
    if (!missing[i].remedy.empty()) show("{:<16}      try: {}\n", "", missing[i].remedy);
  }
}

void print_text(const std::vector<ProbedSource>& sources, const std::vector<Line>& machine) {
  const bool colour = colour_wanted(STDOUT_FILENO);
  for (const Line& line : machine) show("{:<16} {}\n", line.name, line.text);
  show_text("\n");
  for (const ProbedSource& source : sources) {
    show("{:<16} ", source.name);
    show_text(styled(source.status, colour));
    show(" {}\n", source.summary);
    if (!source.metrics.empty()) {
      show("{:<16}   {}\n", "", fmt::join(source.metrics, " "));
    }
    print_missing(source.missing);
  }
  const auto count = [&](std::string_view status) {
    return std::count_if(sources.begin(), sources.end(),
                         [&](const ProbedSource& source) { return source.status == status; });
  };
  show("\n{} sources: {} ok, {} partial, {} unavailable\n", sources.size(), count("ok"),
       count("partial"), count("unavailable"));
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto json = std::make_shared<bool>(false);
  options.add({.name = "--json", .value = "", .help = kJsonHelp, .set = store_in(*json)});
  return [json, settings]() -> Result<int> {
    const auto sources = probe_all(settings);
    const std::vector<Line> machine = {kernel_line(), cgroup_line(), home_line(settings.home()),
                                       clock_line()};
    *json ? print_json(sources, machine) : print_text(sources, machine);
    return 0;
  };
}

}  // namespace

extern const Command doctor_command;
const Command doctor_command = {
    .name = "doctor",
    .summary = "show what this machine can measure and how to enable the rest",
    .examples = R"(trainscope doctor
trainscope doctor --json | jq '.sources[] | select(.status != "ok")')",
    .add = add,
};

}  // namespace trainscope
