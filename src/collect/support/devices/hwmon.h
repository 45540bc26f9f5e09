// Finds the sensors below /sys/class/hwmon and /sys/class/thermal and names them.
#pragma once

#include <string>
#include <vector>

namespace trainscope {

enum class SensorKind { temperature, fan, power, energy };

struct Sensor {
  SensorKind kind = SensorKind::temperature;
  std::string path;   // the file with its value, with root
  std::string chip;   // coretemp; "thermal" for a thermal zone
  std::string label;  // Package id 0; the type of a thermal zone; temp1 if the driver has no label
  std::string name;   // "coretemp Package id 0": no two of a kind have the same
};

// Sorted by chip folder, then kind and number.
std::vector<Sensor> find_sensors(const std::string& root);

// Which sensor is the package temperature of which socket: the name ("cpu_package",
// "cpu_package_1") and an index into `sensors`.
struct PackageSensor {
  std::string name;
  size_t sensor = 0;
};
std::vector<PackageSensor> package_sensors(const std::vector<Sensor>& sensors);

}  // namespace trainscope
