#include "collect/support/devices/hwmon.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/fd.h"
#include "base/text.h"
#include "collect/support/missing.h"
#include "kernel/proc_file.h"

namespace trainscope {

namespace {

struct Prefix {
  const char* name;
  SensorKind kind;
};
constexpr std::array<Prefix, 4> kPrefixes = {{{"temp", SensorKind::temperature},
                                              {"fan", SensorKind::fan},
                                              {"power", SensorKind::power},
                                              {"energy", SensorKind::energy}}};

// 2 of "hwmon2" after "hwmon"; -1 if it is not such a name.
int64_t number_behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return -1;
  const auto number = parse_integer(name.substr(prefix.size()));
  return number && *number >= 0 ? *number : -1;
}

// The numbered folders in numerical order: hwmon2 before hwmon10.
std::vector<std::string> numbered(const std::string& folder, std::string_view prefix) {
  std::vector<std::pair<int64_t, std::string>> found;
  if (const auto names = list_folder(folder)) {
    for (const std::string& name : *names) {
      if (const int64_t number = number_behind(name, prefix); number >= 0) {
        found.emplace_back(number, folder + "/" + name);
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

// The device of the chip: coretemp.1, nvme0, 0000:00:18.3. Distinguishes two chips of one name.
std::string device_name(const std::string& folder) {
  std::array<char, 512> target{};
  const ssize_t n = ::readlink((folder + "/device").c_str(), target.data(), target.size());
  if (n <= 0) return "";
  const std::string_view path(target.data(), static_cast<size_t>(n));
  return label_value(path.substr(path.rfind('/') + 1));
}

// Adds the sensor under a unique name: chip and label; if that is taken, the device instead of the
// chip; if that is taken too, a number.
void add_named(std::vector<Sensor>& sensors, Sensor sensor, const std::string& device) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(sensors.begin(), sensors.end(), [&](const Sensor& other) {
      return other.kind == sensor.kind && other.name == name;
    });
  };
  const std::string plain = sensor.chip + " " + sensor.label;
  sensor.name = plain;
  if (taken(sensor.name) && !device.empty()) sensor.name = device + " " + sensor.label;
  for (int number = 2; taken(sensor.name); ++number) {
    sensor.name = plain + " " + std::to_string(number);
  }
  sensors.push_back(std::move(sensor));
}

// temp1 of temp1_input; power1 of power1_average unless there is power1_input too.
std::vector<std::pair<int64_t, std::string>> inputs(const std::vector<std::string>& files,
                                                    const Prefix& prefix) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const std::string& file : files) {
    const size_t underscore = file.find('_');
    if (underscore == std::string::npos) continue;
    const int64_t number = number_behind(file.substr(0, underscore), prefix.name);
    const std::string suffix = file.substr(underscore);
    const std::string input = prefix.name + std::to_string(number) + "_input";
    const bool average = prefix.kind == SensorKind::power && suffix == "_average" &&
                         !std::binary_search(files.begin(), files.end(), input);
    if (number >= 0 && (suffix == "_input" || average)) found.emplace_back(number, file);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void add_chip(std::vector<Sensor>& sensors, const std::string& folder, const std::string& chip) {
  const auto files = list_folder(folder);
  if (!files) return;
  const std::string device = device_name(folder);
  for (const Prefix& prefix : kPrefixes) {
    for (const auto& [number, file] : inputs(*files, prefix)) {
      const std::string stem = prefix.name + std::to_string(number);
      std::string label = label_value(line_or_empty(folder + "/" + stem + "_label"));
      if (label.empty()) label = stem;
      add_named(sensors, {prefix.kind, folder + "/" + file, chip, label, ""}, device);
    }
  }
}

}  // namespace

std::vector<Sensor> find_sensors(const std::string& root) {
  std::vector<Sensor> sensors;
  std::set<std::string> chips;
  for (const std::string& folder : numbered(root + "/sys/class/hwmon", "hwmon")) {
    std::string chip = label_value(line_or_empty(folder + "/name"));
    if (chip.empty()) chip = folder.substr(folder.rfind('/') + 1);
    chips.insert(chip);
    add_chip(sensors, folder, chip);
  }
  for (const std::string& folder : numbered(root + "/sys/class/thermal", "thermal_zone")) {
    const std::string type = label_value(line_or_empty(folder + "/type"));
    // The kernel shows most zones as hwmon chips too, with '_' for '-'.
    std::string chip = type;
    std::replace(chip.begin(), chip.end(), '-', '_');
    if (type.empty() || chips.contains(chip) || !exists(folder + "/temp")) continue;
    add_named(sensors, {SensorKind::temperature, folder + "/temp", "thermal", type, ""}, "");
  }
  return sensors;
}

namespace {

std::string package_name(int64_t socket) {
  return socket == 0 ? "cpu_package" : "cpu_package_" + std::to_string(socket);
}

std::vector<size_t> temperatures_of(const std::vector<Sensor>& sensors, std::string_view chip) {
  std::vector<size_t> found;
  for (size_t i = 0; i < sensors.size(); ++i) {
    if (sensors[i].kind == SensorKind::temperature && sensors[i].chip == chip) found.push_back(i);
  }
  return found;
}

// Tdie is the true temperature; Tctl may have an offset for the fans. One of each chip.
void add_amd(const std::vector<Sensor>& sensors, std::vector<PackageSensor>& packages) {
  for (const char* label : {"Tdie", "Tctl"}) {
    for (const char* chip : {"k10temp", "zenpower"}) {
      for (const size_t i : temperatures_of(sensors, chip)) {
        if (sensors[i].label != label) continue;
        packages.push_back({package_name(static_cast<int64_t>(packages.size())), i});
      }
      if (!packages.empty()) return;
    }
  }
}

void add_zone(const std::vector<Sensor>& sensors, std::vector<PackageSensor>& packages) {
  for (const char* wanted : {"x86_pkg_temp", "cpu_thermal", "cpu_therm", "soc_thermal"}) {
    for (size_t i = 0; i < sensors.size(); ++i) {
      std::string name = lower(sensors[i].chip == "thermal" ? sensors[i].label : sensors[i].chip);
      std::replace(name.begin(), name.end(), '-', '_');
      if (sensors[i].kind != SensorKind::temperature || name != wanted) continue;
      packages.push_back({package_name(0), i});
      return;
    }
  }
}

}  // namespace

std::vector<PackageSensor> package_sensors(const std::vector<Sensor>& sensors) {
  std::vector<PackageSensor> packages;
  for (const size_t i : temperatures_of(sensors, "coretemp")) {
    const int64_t socket = number_behind(sensors[i].label, "Package id ");
    if (socket >= 0) packages.push_back({package_name(socket), i});
  }
  if (packages.empty()) add_amd(sensors, packages);
  if (packages.empty()) add_zone(sensors, packages);
  return packages;
}

}  // namespace trainscope
