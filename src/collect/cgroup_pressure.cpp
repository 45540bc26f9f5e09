// cgroup_pressure: time in which tasks of the job's own cgroup waited for CPU, memory or I/O (PSI).
//
// Source: cpu.pressure, memory.pressure and io.pressure of the job's cgroup (our own until it has
// started), v2 only. Units: microseconds, stored as such. Permission: none. Cost: 1 µs per file.
// Caveats: as of the machine's (`some`, `full`); waits caused by a CPU quota are included. The
// cgroup may contain other processes. The root cgroup is the machine: its pressure is
// system.pressure.time.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "collect/support/pressure_file.h"
#include "kernel/cgroup_limits.h"

namespace trainscope::cgroup_pressure_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"cgroup.pressure.time", "s", Kind::counter, "kind, resource",
     "Time in which some or all tasks of the job's cgroup waited for the resource"},
};

class CgroupPressureSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    const pid_t pid = context.job == nullptr ? 0 : context.job->first_pid.load();
    // No v1 hierarchy has a controller of this name: v2 is found next to those that v1 has.
    const auto place = find_cgroup(context.root, pid, "pressure");
    if (!place) {
      return all_missing(
          kMetrics,
          "no cgroup of version 2 is mounted here, and version 1 does not measure pressure",
          "boot with systemd.unified_cgroup_hierarchy=1");
    }
    const std::string& folder = place->folders.front();
    if (place->path == "/" && !exists(folder + "/cgroup.events")) {  // every other cgroup has it
      return all_missing(kMetrics, "the job is in the root cgroup: its pressure is the machine's",
                         "");
    }
    Opened opened;
    const Status status = files_.open(folder + "/", ".pressure", kMetrics[0].name, opened);
    if (!opened.columns.empty()) return opened;
    const std::string files = "the pressure files of the cgroup " + place->path;
    if (!status && status.error().error_number() != ENOENT) {
      return all_missing(
          kMetrics, fmt::format("{}: {}", files, std::strerror(status.error().error_number())), "");
    }
    if (line_or_empty(folder + "/cgroup.pressure") == "0") {
      return all_missing(kMetrics, files + " are switched off",
                         fmt::format("echo 1 > {}/cgroup.pressure", folder));
    }
    return all_missing(kMetrics,
                       fmt::format("{} {}: the kernel does not measure pressure", files,
                                   status ? "cannot be read" : "do not exist"),
                       "boot with psi=1");
  }

  Sampled sample(std::span<int64_t> values) override {
    if (values.empty()) return Sampled::ok;
    files_.sample(values);
    return Sampled::ok;
  }

 private:
  PressureFiles files_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "cgroup_pressure",
    .summary = "time that the job's cgroup lost waiting for CPU, memory and I/O",
    .needs = "a cgroup of version 2 and psi=1",
    .scope = Scope::job,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<CgroupPressureSource>()); },
};

}  // namespace trainscope::cgroup_pressure_collector
