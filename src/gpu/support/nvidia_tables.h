// Which of NVML's numbers become which series.
#pragma once

#include "gpu/support/nvml.h"
#include "model/metric.h"

namespace trainscope {

struct ThrottleReason {
  unsigned bit;
  const char* name;
};
inline constexpr ThrottleReason kReasons[] = {
    {0x1, "idle"},        {0x2, "application_clocks"}, {0x4, "power_cap"},
    {0x8, "hw_slowdown"}, {0x10, "sync_boost"},        {0x20, "sw_thermal"},
    {0x40, "hw_thermal"}, {0x80, "power_brake"},       {0x100, "display"},
};

struct FieldColumn {
  nvml::Field field;
  unsigned scope;
  const char *metric, *label, *value;
  Scale scale;
};
inline constexpr FieldColumn kFields[] = {
    {nvml::kPowerCapTime, 0, "hw.gpu.throttle.time", "reason", "power_cap", {1, 1'000'000'000}},
    {nvml::kSyncBoostTime, 0, "hw.gpu.throttle.time", "reason", "sync_boost", {1, 1'000'000'000}},
    {nvml::kSwThermalTime, 0, "hw.gpu.throttle.time", "reason", "sw_thermal", {1, 1'000'000'000}},
    {nvml::kHwThermalTime, 0, "hw.gpu.throttle.time", "reason", "hw_thermal", {1, 1'000'000'000}},
    {nvml::kPowerBrakeTime, 0, "hw.gpu.throttle.time", "reason", "power_brake", {1, 1'000'000'000}},
    {nvml::kMemoryTemperature, 0, "hw.gpu.memory.temperature", nullptr, nullptr, {}},
};
// Of all links together. A GPU with GPM counters reports them there, at every tick.
inline constexpr FieldColumn kNvlinkFields[] = {
    {nvml::kNvlinkReceived, nvml::kAllLinks, "hw.gpu.nvlink.io", "direction", "receive", {1024, 1}},
    {nvml::kNvlinkTransmitted,
     nvml::kAllLinks,
     "hw.gpu.nvlink.io",
     "direction",
     "transmit",
     {1024, 1}},
};

struct GpmColumn {
  nvml::Gpm id;
  const char *metric, *direction;  // direction: a rate that is added up to a counter of bytes
};
inline constexpr GpmColumn kGpm[] = {
    {nvml::kSmActive, "hw.gpu.sm_active", nullptr},
    {nvml::kSmOccupancy, "hw.gpu.sm_occupancy", nullptr},
    {nvml::kTensorActive, "hw.gpu.tensor_active", nullptr},
    {nvml::kFp32Active, "hw.gpu.fp32_active", nullptr},
    {nvml::kDramActive, "hw.gpu.dram_active", nullptr},
    {nvml::kPcieReceiveRate, "hw.gpu.pcie.io", "receive"},
    {nvml::kPcieTransmitRate, "hw.gpu.pcie.io", "transmit"},
    {nvml::kNvlinkReceiveRate, "hw.gpu.nvlink.io", "receive"},
    {nvml::kNvlinkTransmitRate, "hw.gpu.nvlink.io", "transmit"},
};

}  // namespace trainscope
