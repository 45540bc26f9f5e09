// sensors: temperatures, fans, power and energy from the machine's own sensors.
//
// Source: /sys/class/hwmon (tempN, fanN, powerN, energyN) and the zones of /sys/class/thermal.
// Units: thousandths of a degree, revolutions per minute, microwatts, microjoules, stored as such.
// Permission: none for most. Cost: 1 µs for a sensor in the processor, milliseconds for one behind
// a slow bus or the firmware; therefore it has its own thread. Caveats: labels are those of the
// driver. The processor's package appears a second time as cpu_package (cpu_package_1 and so on for
// further sockets): coretemp's "Package id N", otherwise k10temp's Tdie or Tctl, otherwise the
// processor's thermal zone. Values that cannot be read or cannot be true are absent.
#include <algorithm>
#include <array>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/devices/hwmon.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope::sensors_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"hw.temperature", "Cel", Kind::gauge, "sensor", "Temperatures", in_info(501).unless_idle()},
    {"hw.fan.speed", "{rpm}", Kind::gauge, "sensor", "Fan speed in revolutions per minute"},
    {"hw.power", "W", Kind::gauge, "sensor", "Power by sensor", in_info(502).unless_idle()},
    {"hw.energy", "J", Kind::counter, "sensor", "Energy by sensor", in_info(503).unless_idle()},
};

// By SensorKind. A value outside the bounds (in raw units) cannot be true: chips report -273 °C or
// similar for a probe that is not connected.
struct KindOfSensor {
  std::string_view metric;
  Scale scale;
  int64_t above, below;
  const char* missing;  // null: reported by the rapl collector
};
constexpr int64_t kAny = INT64_MAX;
constexpr std::array<KindOfSensor, 4> kKinds = {{
    {"hw.temperature", {1, 1000}, -256'000, 1'000'000, "this machine shows no temperature sensor"},
    {"hw.fan.speed", {}, -1, 1'000'000, "this machine shows no fan"},
    {"hw.power", {1, 1'000'000}, -1, kAny, "this machine shows no power sensor"},
    {"hw.energy", {1, 1'000'000}, -1, kAny, nullptr},
}};

const KindOfSensor& kind_of(const Sensor& sensor) {
  return kKinds[static_cast<size_t>(sensor.kind)];
}

class SensorsSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    readings_.clear();
    aliases_.clear();
    Opened opened;
    std::vector<Sensor> sensors;
    for (Sensor& sensor : find_sensors(context.root)) {
      Reading reading{{}, &kind_of(sensor)};
      if (!reading.file.open(sensor.path, 64)) continue;
      opened.columns.push_back(
          {reading.kind->metric, {{"sensor", sensor.name}}, reading.kind->scale});
      readings_.push_back(std::move(reading));
      sensors.push_back(std::move(sensor));
    }
    for (const PackageSensor& package : package_sensors(sensors)) {
      const KindOfSensor& kind = kind_of(sensors[package.sensor]);
      opened.columns.push_back({kind.metric, {{"sensor", package.name}}, kind.scale});
      aliases_.push_back(package.sensor);
    }
    add_missing(context.root, opened);
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    for (size_t i = 0; i < readings_.size(); ++i) {
      int64_t value = 0;
      const KindOfSensor& kind = *readings_[i].kind;
      const bool known = readings_[i].file.read_number(value);
      values[i] = known && value > kind.above && value < kind.below ? value : kAbsent;
    }
    for (size_t i = 0; i < aliases_.size(); ++i) values[readings_.size() + i] = values[aliases_[i]];
    return Sampled::ok;
  }

 private:
  struct Reading {
    ProcFile file;
    const KindOfSensor* kind;
  };

  static void add_missing(const std::string& root, Opened& opened) {
    const bool guest = in_virtual_machine(root);
    const bool nothing = opened.columns.empty();
    for (const KindOfSensor& kind : kKinds) {
      const bool there =
          std::any_of(opened.columns.begin(), opened.columns.end(),
                      [&](const Column& column) { return column.metric == kind.metric; });
      if (there || kind.missing == nullptr) continue;
      opened.missing.push_back(
          {kind.metric, std::string(kind.missing) + (guest ? ": it is a virtual machine" : ""),
           nothing && !guest ? "sudo sensors-detect --auto" : ""});
    }
  }

  std::vector<Reading> readings_;
  std::vector<size_t> aliases_;  // indices of readings that appear again under another name
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "sensors",
    .summary = "temperatures, fans and power of the machine",
    .needs = "/sys/class/hwmon or /sys/class/thermal",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = kNsPerSecond,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<SensorsSource>()); },
};

}  // namespace trainscope::sensors_collector
