// pressure: time in which tasks waited for CPU, memory or I/O (PSI).
//
// Source: /proc/pressure/{cpu,memory,io}, the totals. Units: microseconds, stored as such.
// Permission: none. Cost: 1 µs per file. Caveats: `some`: at least one task waited; `full`: all
// tasks that were not idle waited. For the CPU of a whole machine `full` means nothing: kernels
// since 5.13 report 0, earlier ones have no such line. It is stored if the kernel reports it.
// Reading brings the totals up to date; only the averages, which are not used, are up to 2 s old.
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "collect/support/pressure_file.h"

namespace trainscope::pressure_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.pressure.time", "s", Kind::counter, "kind, resource",
     "Time in which some or all tasks waited for the resource",
     in_info(308).unless_idle().only("kind", "some")},
};

class PressureSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    Opened opened;
    const Status status =
        files_.open(context.root + "/proc/pressure/", "", kMetrics[0].name, opened);
    if (!opened.columns.empty()) return opened;
    // Off by default: no folder, or (before 5.12) files that cannot be read.
    const std::string reason = status ? "/proc/pressure exists but cannot be read"
                                      : read_error_text("/proc/pressure", status.error());
    return all_missing(kMetrics, reason + ": the kernel does not measure pressure",
                       "boot with psi=1");
  }

  Sampled sample(std::span<int64_t> values) override {
    files_.sample(values);
    return Sampled::ok;
  }

 private:
  PressureFiles files_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "pressure",
    .summary = "time lost waiting for CPU, memory and I/O",
    .needs = "/proc/pressure (kernel 4.20 or later, psi=1)",
    .scope = Scope::machine,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<PressureSource>()); },
};

}  // namespace trainscope::pressure_collector
