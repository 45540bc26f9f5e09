// pressure: time in which tasks waited for CPU, memory or I/O (PSI).
//
// Source: /proc/pressure/{cpu,memory,io}, the totals. Units: microseconds, stored as such.
// Permission: none. Cost: 1 µs per file. Caveats: `some`: at least one task waited; `full`: all
// tasks that were not idle waited. For the CPU of a whole machine `full` means nothing: kernels
// since 5.13 report 0, earlier ones have no such line. It is stored if the kernel reports it.
// Reading brings the totals up to date; only the averages, which are not used, are up to 2 s old.
#include <array>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.pressure.time", "s", Kind::counter, "kind, resource",
     "Time in which some or all tasks waited for the resource",
     in_info(308).unless_idle().only("kind", "some")},
};

constexpr std::array<std::string_view, 3> kResources = {"cpu", "memory", "io"};
constexpr std::array<std::string_view, 2> kKinds = {"some", "full"};
using Totals = std::array<int64_t, kKinds.size()>;

// some avg10=0.00 avg60=0.00 avg300=0.00 total=1234
Totals parse(std::string_view text) {
  Totals totals = {kAbsent, kAbsent};
  Scanner scan(text);
  while (!scan.done()) {
    const std::string_view line = scan.line();
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      const size_t total = line.find(" total=");
      if (!line.starts_with(kKinds[kind]) || total == std::string_view::npos) continue;
      Scanner(line.substr(total + 7)).number(totals[kind]);
    }
  }
  return totals;
}

class PressureSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    parts_.clear();
    Opened opened;
    std::string reason;
    for (size_t i = 0; i < kResources.size(); ++i) {
      const std::string path = "/proc/pressure/" + std::string(kResources[i]);
      files_[i].close();
      if (Status status = files_[i].open(context.root + path, 512); !status) {
        reason = read_error_text("/proc/pressure", status.error());
        continue;
      }
      const Totals totals = parse(files_[i].read());
      for (size_t kind = 0; kind < kKinds.size(); ++kind) {
        if (totals[kind] == kAbsent) continue;
        parts_.push_back({i, kind});
        opened.columns.push_back(
            {"system.pressure.time",
             {{"kind", std::string(kKinds[kind])}, {"resource", std::string(kResources[i])}},
             {1, 1'000'000}});
      }
    }
    if (!parts_.empty()) return opened;
    // Off by default: no folder, or (before 5.12) files that cannot be read.
    if (reason.empty()) reason = "/proc/pressure exists but cannot be read";
    return all_missing(kMetrics, reason + ": the kernel does not measure pressure",
                       "boot with psi=1");
  }

  Sampled sample(std::span<int64_t> values) override {
    std::array<Totals, kResources.size()> totals{};
    for (size_t i = 0; i < files_.size(); ++i) totals[i] = parse(files_[i].read());
    for (size_t i = 0; i < parts_.size(); ++i)
      values[i] = totals[parts_[i].resource][parts_[i].kind];
    return Sampled::ok;
  }

 private:
  struct Part {
    size_t resource, kind;
  };
  std::array<ProcFile, kResources.size()> files_;
  std::vector<Part> parts_;
};

}  // namespace

extern const Collector pressure_collector;
const Collector pressure_collector = {
    .name = "pressure",
    .summary = "time lost waiting for CPU, memory and I/O",
    .needs = "/proc/pressure (kernel 4.20 or later, psi=1)",
    .scope = Scope::machine,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<PressureSource>()); },
};

}  // namespace trainscope
