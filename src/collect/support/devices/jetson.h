// Locations of the GPU on NVIDIA's Jetson boards, by board and kernel.
#pragma once

#include <string>
#include <vector>

namespace trainscope {

// According to the device tree or NVIDIA's release file.
bool is_jetson(const std::string& root);

// The file with the load of the GPU in thousandths; empty if none is readable.
std::string jetson_gpu_load(const std::string& root);

// The folder of the GPU in /sys/class/devfreq; empty if there is none.
std::string jetson_gpu_devfreq(const std::string& root);

// A power rail: one file with milliwatts, or volts and current in thousandths to be multiplied.
struct JetsonRail {
  std::string name;
  std::string power;             // milliwatts
  std::string voltage, current;  // millivolts and milliamperes, if power is not reported
};
std::vector<JetsonRail> jetson_rails(const std::string& root);

inline constexpr const char* kNoJetson = "this machine is not a Jetson";

}  // namespace trainscope
