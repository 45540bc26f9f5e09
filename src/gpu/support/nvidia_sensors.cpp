// Memory, power, heat and clocks of an NVIDIA GPU: what its sensors show now.
#include <utility>

#include "gpu/support/nvidia_columns.h"
#include "gpu/support/nvidia_tables.h"

namespace trainscope {

namespace {

using nvml::Return;

Return read_memory(const nvml::Library& library, nvml::Device device, int64_t& used,
                   int64_t& total) {
  nvml::MemoryV2 now{};
  now.version = static_cast<unsigned>(sizeof now) | 2U << 24U;
  if (library.memory_v2 != nullptr && library.memory_v2(device, &now) == nvml::kSuccess) {
    used = static_cast<int64_t>(now.used);
    total = static_cast<int64_t>(now.total);
    return nvml::kSuccess;
  }
  if (library.memory == nullptr) return nvml::kFunctionNotFound;
  nvml::Memory before{};  // before release 510 memory reserved by the driver counts as used
  const Return result = library.memory(device, &before);
  used = static_cast<int64_t>(before.used);
  total = static_cast<int64_t>(before.total);
  return result;
}

void add_memory(NvidiaColumns& gpu) {
  const nvml::Library& library = gpu.library();
  const nvml::Device device = gpu.device();
  gpu.add("hw.gpu.memory.usage", {}, {}, GpuPace::fast, [&library, device](int64_t& raw) {
    int64_t total = 0;
    return read_memory(library, device, raw, total);
  });
  gpu.add("hw.gpu.memory.limit", {}, {}, GpuPace::slow, [&library, device](int64_t& raw) {
    int64_t used = 0;
    return read_memory(library, device, used, raw);
  });
  int64_t used = 0, total = 0;
  if (read_memory(library, device, used, total) == nvml::kSuccess) gpu.memory_bytes = total;
  for (const auto& [type, name] :
       {std::pair(nvml::kCorrected, "corrected"), std::pair(nvml::kUncorrected, "uncorrected")}) {
    gpu.add("hw.gpu.ecc.errors", {{"type", name}}, {}, GpuPace::slow,
            [&library, device, kind = type](int64_t& raw) {
              if (library.ecc == nullptr) return nvml::kFunctionNotFound;
              unsigned long long count = 0;
              const Return result = library.ecc(device, kind, nvml::kVolatile, &count);
              raw = static_cast<int64_t>(count);
              return result;
            });
  }
}

void add_power_and_heat(NvidiaColumns& gpu) {
  const nvml::Library& library = gpu.library();
  const nvml::Device device = gpu.device();
  gpu.add("hw.gpu.temperature", {}, {}, GpuPace::fast, [&library, device](int64_t& raw) {
    if (library.temperature == nullptr) return nvml::kFunctionNotFound;
    unsigned degrees = 0;
    const Return result = library.temperature(device, 0, &degrees);
    raw = degrees;
    return result;
  });
  // The instantaneous value if the driver reports it; its other value is the mean of a second.
  const NvidiaColumns::Read instant = gpu.field(nvml::kPowerInstant, 0);
  gpu.add("hw.gpu.power", {}, {1, 1000}, GpuPace::fast,
          NvidiaColumns::works(instant) ? instant : gpu.number(library.power));
  gpu.add("hw.gpu.energy", {}, {1, 1000}, GpuPace::slow, [&library, device](int64_t& raw) {
    if (library.energy == nullptr) return nvml::kFunctionNotFound;
    unsigned long long millijoules = 0;
    const Return result = library.energy(device, &millijoules);
    raw = static_cast<int64_t>(millijoules);
    return result;
  });
  gpu.add("hw.gpu.fan.speed", {}, {1, 100}, GpuPace::slow, gpu.number(library.fan));
}

// The first reason's column reads the bits of all.
void add_throttle_reasons(NvidiaColumns& gpu) {
  struct Bits {
    unsigned long long now = 0;
    Return result = nvml::kNoData;
  };
  const auto bits = std::make_shared<Bits>();
  for (const ThrottleReason& reason : kReasons) {
    const bool reads = &reason == std::begin(kReasons);
    gpu.add("hw.gpu.throttle", {{"reason", reason.name}}, {}, GpuPace::fast,
            [&library = gpu.library(), device = gpu.device(), bits, reads,
             bit = reason.bit](int64_t& raw) {
              if (reads) {
                bits->result = library.throttle == nullptr ? nvml::kFunctionNotFound
                                                           : library.throttle(device, &bits->now);
              }
              raw = (bits->now & bit) != 0 ? 1 : 0;
              return bits->result;
            });
  }
}

void add_clocks(NvidiaColumns& gpu) {
  for (const auto& [clock, name] :
       {std::pair(nvml::kSmClock, "sm"), std::pair(nvml::kMemoryClock, "memory")}) {
    gpu.add("hw.gpu.clock", {{"clock", name}}, {1'000'000, 1}, GpuPace::fast,
            [&library = gpu.library(), device = gpu.device(), which = clock](int64_t& raw) {
              if (library.clock == nullptr) return nvml::kFunctionNotFound;
              unsigned megahertz = 0;
              const Return result = library.clock(device, which, &megahertz);
              raw = megahertz;
              return result;
            });
  }
  gpu.add("hw.gpu.performance_state", {}, {}, GpuPace::slow,
          gpu.number(gpu.library().performance_state));
}

}  // namespace

void add_nvidia_sensors(NvidiaColumns& gpu) {
  add_memory(gpu);
  add_power_and_heat(gpu);
  add_clocks(gpu);
  add_throttle_reasons(gpu);
  for (const FieldColumn& column : kFields) {
    Labels labels;
    if (column.label != nullptr) labels = {{column.label, column.value}};
    gpu.add(column.metric, labels, column.scale, GpuPace::slow,
            gpu.field(column.field, column.scope));
  }
}

}  // namespace trainscope
