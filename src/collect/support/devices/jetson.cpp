#include "collect/support/devices/jetson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/fd.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope {

namespace {

// The chips of TX1 and Nano, TX2, Xavier, Orin; "gpu" since JetPack 6.
constexpr std::array<const char*, 5> kGpuNames = {"gm20b", "gp10b", "gv11b", "ga10b", "gpu"};
constexpr int kRailsOfAChip = 8;

// No two rails have one name.
void add_rail(std::vector<JetsonRail>& rails, JetsonRail rail) {
  // Channels that nothing is connected to.
  if (rail.name.empty() || rail.name == "NC") return;
  const std::string plain = rail.name;
  const auto taken = [&] {
    return std::any_of(rails.begin(), rails.end(),
                       [&](const JetsonRail& other) { return other.name == rail.name; });
  };
  for (int number = 2; taken(); ++number) rail.name = fmt::format("{} {}", plain, number);
  rails.push_back(std::move(rail));
}

// TX2, Xavier: the vendor's driver shows rails as channels of industrial I/O.
void add_iio_rails(const std::string& root, std::vector<JetsonRail>& rails) {
  const std::string driver = root + "/sys/bus/i2c/drivers/ina3221x";
  for (const std::string& chip : names_in(driver)) {
    for (const std::string& device : names_in(driver + "/" + chip)) {
      if (!device.starts_with("iio:device")) continue;
      const std::string folder = driver + "/" + chip + "/" + device;
      for (int i = 0; i < kRailsOfAChip; ++i) {
        const std::string power = fmt::format("{}/in_power{}_input", folder, i);
        if (!exists(power)) continue;
        const std::string name =
            label_value(line_or_empty(fmt::format("{}/rail_name_{}", folder, i)));
        add_rail(rails, {name, power, "", ""});
      }
    }
  }
}

// Orin: the kernel's own driver, which reports no power.
void add_hwmon_rails(const std::string& root, std::vector<JetsonRail>& rails) {
  const std::string chips = root + "/sys/class/hwmon";
  for (const std::string& chip : names_in(chips)) {
    const std::string folder = chips + "/" + chip;
    if (line_or_empty(folder + "/name") != "ina3221") continue;
    for (int i = 1; i <= kRailsOfAChip; ++i) {
      const std::string voltage = fmt::format("{}/in{}_input", folder, i);
      const std::string current = fmt::format("{}/curr{}_input", folder, i);
      if (exists(fmt::format("{}/power{}_input", folder, i)))
        continue;  // the source sensors has it
      if (!exists(voltage) || !exists(current)) continue;
      add_rail(rails, {label_value(line_or_empty(fmt::format("{}/in{}_label", folder, i))), "",
                       voltage, current});
    }
  }
}

}  // namespace

bool is_jetson(const std::string& root) {
  if (exists(root + "/etc/nv_tegra_release")) return true;
  const auto compatible = read_file(root + "/proc/device-tree/compatible", 4096);
  return compatible && compatible->find("nvidia,tegra") != std::string::npos;
}

std::string jetson_gpu_devfreq(const std::string& root) {
  const std::string folder = root + "/sys/class/devfreq";
  for (const std::string& name : names_in(folder)) {
    for (const char* gpu : kGpuNames) {
      if (name.ends_with(gpu)) return folder + "/" + name;
    }
  }
  return "";
}

std::string jetson_gpu_load(const std::string& root) {
  std::vector<std::string> candidates = {root + "/sys/devices/gpu.0/load",
                                         root + "/sys/devices/platform/gpu.0/load",
                                         root + "/sys/devices/platform/17000000.gpu/load",
                                         root + "/sys/devices/platform/bus@0/17000000.gpu/load"};
  for (const char* gpu : kGpuNames) {
    for (const char* address : {"17000000", "57000000"}) {
      candidates.push_back(fmt::format("{}/sys/devices/{}.{}/load", root, address, gpu));
    }
  }
  if (const std::string devfreq = jetson_gpu_devfreq(root); !devfreq.empty()) {
    candidates.push_back(devfreq + "/device/load");
  }
  for (const std::string& path : candidates) {
    ProcFile file;
    int64_t load = 0;
    if (file.open(path, 64) && file.read_number(load)) return path;
  }
  return "";
}

std::vector<JetsonRail> jetson_rails(const std::string& root) {
  std::vector<JetsonRail> rails;
  add_iio_rails(root, rails);
  add_hwmon_rails(root, rails);
  return rails;
}

}  // namespace trainscope
