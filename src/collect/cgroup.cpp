// cgroup: limits on the job's CPU and memory, their usage, and the time they held the job back.
//
// Source: the cgroup of an attached job, or our own, which a job that we start inherits; v1 or v2,
// found with /proc/PID/cgroup and the mounts. Units: v2 µs, v1 ns, bytes; the CPU limit in
// thousandths of a CPU. Permission: none. Cost: 0.5 to 1 µs per file, five files and two for each
// cgroup above ours. Caveats: the smallest limit on the way up applies. Usage, throttling and OOM
// kills are read at the cgroup with that limit, because they are counted there; at our own if there
// is no limit. They include other processes in that cgroup. Files are only read: no cgroup is
// created, nothing is moved.
#include <algorithm>
#include <array>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/cgroup_limits.h"
#include "kernel/proc_file.h"

namespace trainscope::cgroup_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"cgroup.cpu.limit", "{cpu}", Kind::gauge, "", "CPUs allowed by the quota"},
    {"cgroup.cpu.usage", "s", Kind::counter, "", "CPU time taken under the quota"},
    {"cgroup.cpu.throttled_time", "s", Kind::counter, "", "Time held back because of the quota",
     in_info(401).unless_idle()},
    {"cgroup.cpu.throttled_periods", "{period}", Kind::counter, "",
     "Periods in which the quota was used up"},
    {"cgroup.memory.limit", "By", Kind::gauge, "", "Memory limit"},
    {"cgroup.memory.usage", "By", Kind::gauge, "", "Memory in use, page cache included",
     in_info(402).unless_idle()},
    {"cgroup.memory.oom_kills", "{kill}", Kind::counter, "",
     "Processes killed because the limit was reached"},
};

constexpr Scale kMicro{1, 1'000'000};
constexpr Scale kNano{1, 1'000'000'000};

// Position of a number: the file and the word before it ("" if it is alone).
struct Place {
  std::string_view metric;
  const char* controller;  // of v1
  const char* file;
  std::string_view key;
  Scale scale;
};
constexpr std::array<Place, 5> kPlacesV2 = {{
    {"cgroup.cpu.usage", "cpu", "/cpu.stat", "usage_usec ", kMicro},
    {"cgroup.cpu.throttled_time", "cpu", "/cpu.stat", "throttled_usec ", kMicro},
    {"cgroup.cpu.throttled_periods", "cpu", "/cpu.stat", "nr_throttled ", {}},
    {"cgroup.memory.usage", "memory", "/memory.current", "", {}},
    {"cgroup.memory.oom_kills", "memory", "/memory.events", "oom_kill ", {}},
}};
constexpr std::array<Place, 5> kPlacesV1 = {{
    {"cgroup.cpu.usage", "cpuacct", "/cpuacct.usage", "", kNano},
    {"cgroup.cpu.throttled_time", "cpu", "/cpu.stat", "throttled_time ", kNano},
    {"cgroup.cpu.throttled_periods", "cpu", "/cpu.stat", "nr_throttled ", {}},
    {"cgroup.memory.usage", "memory", "/memory.usage_in_bytes", "", {}},
    {"cgroup.memory.oom_kills", "memory", "/memory.oom_control", "oom_kill ", {}},
}};

bool find_number(std::string_view text, std::string_view key, int64_t& value) {
  Scanner scan(text);
  while (!scan.done()) {
    if (scan.take(key)) return scan.number(value);
    scan.next_line();
  }
  return false;
}

// One limit and the files of the resource that it is on.
struct Resource {
  CgroupResource kind;
  const char* name;
  std::string_view limit_metric;
  const char* no_limit;
  Scale scale;
  std::optional<CgroupPlace> place;
  CgroupLimitReader reader;
  std::optional<size_t> level;  // of the smallest limit at open()
};

class CgroupSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    numbers_.clear();
    const JobLink* job = context.job;
    const pid_t pid = job == nullptr ? 0 : job->first_pid.load();
    Opened opened;
    for (Resource& resource : resources_) open_limit(context.root, pid, resource, opened);
    for (const Resource& resource : resources_) {
      const auto& places = resource.place && !resource.place->v2 ? kPlacesV1 : kPlacesV2;
      for (const Place& place : places) {
        if (!place.metric.starts_with(prefix(resource))) continue;
        open_number(context.root, pid, resource, place, opened);
      }
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    size_t at = 0;
    for (Resource& resource : resources_) {
      const auto limit = resource.reader.read();
      const auto level = limit ? std::optional<size_t>(limit->level) : std::nullopt;
      // A limit was set, lifted, or another one is the smallest now.
      if (level != resource.level) return Sampled::layout_changed;
      if (limit) values[at++] = limit->value;
    }
    for (Number& number : numbers_) {
      int64_t value = 0;
      values[at++] = find_number(number.file.read(), number.key, value) ? value : kAbsent;
    }
    return Sampled::ok;
  }

 private:
  struct Number {
    ProcFile file;
    std::string_view key;
  };

  static std::string_view prefix(const Resource& resource) {
    return resource.limit_metric.substr(0, resource.limit_metric.rfind('.') + 1);
  }

  static void open_limit(const std::string& root, pid_t pid, Resource& resource, Opened& opened) {
    resource.place = find_cgroup(root, pid, resource.name);
    resource.level.reset();
    resource.reader = {};
    if (resource.place) resource.reader.open(*resource.place, resource.kind);
    if (const auto limit = resource.reader.read()) {
      resource.level = limit->level;
      opened.columns.push_back({resource.limit_metric, {}, resource.scale});
      return;
    }
    opened.missing.push_back(
        {resource.limit_metric, resource.place ? resource.no_limit : kNoCgroup, ""});
  }

  void open_number(const std::string& root, pid_t pid, const Resource& resource, const Place& place,
                   Opened& opened) {
    if (!resource.place) {
      opened.missing.push_back({place.metric, kNoCgroup, ""});
      return;
    }
    size_t level = resource.level.value_or(0);
    auto cgroup = resource.place;
    if (!cgroup->v2 && std::string_view(place.controller) != resource.name) {
      cgroup = find_cgroup(root, pid, place.controller);
      // v1 may have separate trees; levels of one mean nothing in the other.
      if (cgroup && cgroup->path != resource.place->path) level = 0;
    }
    const size_t levels = cgroup ? cgroup->folders.size() : 0;
    for (; level < levels; ++level) {  // a controller may be switched on only further up
      Number number{{}, place.key};
      int64_t value = 0;
      if (!number.file.open(cgroup->folders[level] + place.file)) continue;
      if (!find_number(number.file.read(), place.key, value)) continue;
      numbers_.push_back(std::move(number));
      opened.columns.push_back({place.metric, {}, place.scale});
      return;
    }
    const bool throttle = place.metric.find("throttled") != std::string_view::npos;
    const std::string reason = throttle ? resource.no_limit
                                        : "the cgroup " + resource.place->path + " has no " +
                                              std::string(place.file).substr(1);
    opened.missing.push_back({place.metric, reason, ""});
  }

  static constexpr const char* kNoCgroup = "the cgroup of this process is not mounted here";

  std::array<Resource, 2> resources_ = {{
      {CgroupResource::cpu,
       "cpu",
       "cgroup.cpu.limit",
       "no CPU limit is set on this cgroup",
       {1, 1000},
       {},
       {},
       {}},
      {CgroupResource::memory,
       "memory",
       "cgroup.memory.limit",
       "no memory limit is set on this cgroup",
       {},
       {},
       {},
       {}},
  }};
  std::vector<Number> numbers_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "cgroup",
    .summary = "limits on the job's CPU and memory, and the time they held it back",
    .needs = "a mounted cgroup file system",
    .scope = Scope::job,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<CgroupSource>()); },
};

}  // namespace trainscope::cgroup_collector
