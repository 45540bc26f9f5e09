// rapl: energy of the processor's packages, cores and memory.
//
// Source: energy_uj of the zones below /sys/class/powercap (intel-rapl, which AMD processors have
// too). Units: microjoules, stored as such. Permission: root, or a readable energy_uj (Linux denies
// it to users since 2020, CVE-2020-8694). Cost: 1 to 5 µs per zone (a register of another package
// is read). Caveats: the counter wraps after minutes (max_energy_range_uj), which is corrected; if
// nothing reads it for more than one wrap, that energy is lost. AMD does not report dram. package
// includes core and uncore.
#include <fmt/format.h>

#include <algorithm>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"
#include "kernel/unwrap.h"

namespace trainscope::rapl_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"hw.energy", "J", Kind::counter, "sensor", "Energy by part of the processor",
     in_info(503).unless_idle()},
};

constexpr const char* kFolder = "/sys/class/powercap";
constexpr const char* kRemedy = "sudo chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj";

// "intel-rapl:0" of "intel-rapl:0:1"; empty for a zone without one above it.
std::string parent_of(const std::string& zone) {
  const size_t last = zone.rfind(':');
  return last == zone.find(':') ? "" : zone.substr(0, last);
}

// package-0, psys; dram-0 for the dram below package-0.
std::string sensor_of(const std::string& folder, const std::string& zone) {
  std::string name = label_value(line_or_empty(folder + "/" + zone + "/name"));
  const std::string parent = parent_of(zone);
  if (parent.empty()) return name;
  const std::string above = sensor_of(folder, parent);
  const size_t dash = above.find('-');
  return name + (dash == std::string::npos ? "-" + above : above.substr(dash));
}

struct Zone {
  ProcFile energy;
  Unwrap unwrap;
};

class RaplSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    zones_.clear();
    const std::string folder = context.root + kFolder;
    auto names = list_folder(folder);
    if (!names) return missing(context.root, "");
    // The same counters may be shown twice, by intel-rapl-mmio too.
    std::stable_partition(names->begin(), names->end(),
                          [](const std::string& name) { return name.starts_with("intel-rapl:"); });
    Opened opened;
    std::vector<std::string> seen;
    std::string refused;
    for (const std::string& name : *names) {
      if (!exists(folder + "/" + name + "/energy_uj")) continue;
      const std::string sensor = sensor_of(folder, name);
      if (sensor.empty() || std::find(seen.begin(), seen.end(), sensor) != seen.end()) continue;
      if (!add_zone(folder + "/" + name)) {
        if (refused.empty()) refused = fmt::format("{}/{}/energy_uj", kFolder, name);
        continue;
      }
      seen.push_back(sensor);
      opened.columns.push_back({"hw.energy", {{"sensor", sensor}}, {1, 1'000'000}});
    }
    return zones_.empty() ? missing(context.root, refused) : opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    for (size_t i = 0; i < zones_.size(); ++i) {
      int64_t energy = 0;
      values[i] = zones_[i].energy.read_number(energy) ? zones_[i].unwrap(energy) : kAbsent;
    }
    return Sampled::ok;
  }

 private:
  bool add_zone(const std::string& zone) {
    ProcFile range_file;
    ProcFile energy;
    int64_t range = int64_t{1} << 32;
    if (range_file.open(zone + "/max_energy_range_uj", 64)) range_file.read_number(range);
    if (!energy.open(zone + "/energy_uj", 64)) return false;
    zones_.push_back({std::move(energy), Unwrap(range)});
    return true;
  }

  static Opened missing(const std::string& root, const std::string& refused) {
    if (!refused.empty()) return all_missing(kMetrics, "no permission to read " + refused, kRemedy);
    if (in_virtual_machine(root)) {
      return all_missing(kMetrics, "this virtual machine does not show energy counters", "");
    }
    return all_missing(kMetrics, "no energy counters (RAPL) in " + std::string(kFolder),
                       "sudo modprobe intel_rapl_msr");
  }

  std::vector<Zone> zones_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "rapl",
    .summary = "energy of processors and their memory",
    .needs = "/sys/class/powercap/intel-rapl:*/energy_uj, readable",
    .scope = Scope::machine,
    .pace = Pace::second,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<RaplSource>()); },
};

}  // namespace trainscope::rapl_collector
