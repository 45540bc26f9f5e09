// What an NVIDIA GPU does: utilisation, counters inside the GPU (GPM), traffic of its links, and
// the job's share.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/clock.h"
#include "gpu/support/nvidia_columns.h"
#include "gpu/support/nvidia_readings.h"
#include "gpu/support/nvidia_tables.h"

namespace trainscope {

namespace {

using nvml::Return;

// The driver measures a few times per second: reading the same value again is not another sample.
struct UtilizationReading {
  const nvml::Library& library;
  nvml::Device device;
  int64_t period_ns = driver_sample_period_ns(library, device, nvml::kGpuSamples);
  int64_t taken_ns = 0;
  nvml::Utilization last{};
  Return result = nvml::kNoData;

  Return take() {
    if (library.utilization == nullptr) return nvml::kFunctionNotFound;
    const int64_t now = monotonic_ns();
    if (now - taken_ns < period_ns * 9 / 10) return nvml::kNoData;
    taken_ns = now;
    return library.utilization(device, &last);
  }
};

void add_utilisation(NvidiaColumns& gpu) {
  const auto reading =
      std::make_shared<UtilizationReading>(UtilizationReading{gpu.library(), gpu.device()});
  gpu.add("hw.gpu.utilization", {}, {1, 100}, GpuPace::fast, [reading](int64_t& raw) {
    reading->result = reading->take();
    raw = reading->last.gpu;
    return reading->result;
  });
  gpu.add("hw.gpu.memory.controller.utilization", {}, {1, 100}, GpuPace::fast,
          [reading](int64_t& raw) {
            raw = reading->last.memory;
            return reading->result;
          });
  reading->taken_ns = 0;  // a first read to check support is not a sample
  const auto engine = [&gpu](Return (*call)(nvml::Device, unsigned*, unsigned*)) {
    return [device = gpu.device(), call](int64_t& raw) {
      if (call == nullptr) return nvml::kFunctionNotFound;
      unsigned value = 0, period_us = 0;
      const Return result = call(device, &value, &period_us);
      raw = value;
      return result;
    };
  };
  gpu.add("hw.gpu.encoder.utilization", {}, {1, 100}, GpuPace::slow, engine(gpu.library().encoder));
  gpu.add("hw.gpu.decoder.utilization", {}, {1, 100}, GpuPace::slow, engine(gpu.library().decoder));
}

// The first column takes the sample of all.
void add_gpm(NvidiaColumns& gpu, const std::shared_ptr<GpmReading>& gpm) {
  const auto result = std::make_shared<Return>(nvml::kNoData);
  for (const GpmColumn& column : kGpm) {
    const bool takes = &column == std::begin(kGpm), is_rate = column.direction != nullptr;
    Labels labels;
    if (is_rate) labels = {{"direction", column.direction}};
    const Scale percent{1, 1'000'000}, bytes{1, 1};
    gpu.add(
        column.metric, labels, is_rate ? bytes : percent, GpuPace::fast,
        [gpm, result, takes, is_rate, id = column.id, total = int64_t{0}](int64_t& raw) mutable {
          if (takes) *result = gpm->take();
          if (*result != nvml::kSuccess) return *result;
          const auto value = gpm->value(id);
          if (!value) return nvml::kNoData;
          if (is_rate) total += std::llround(*value * gpm->seconds() * 1024 * 1024);
          raw = is_rate ? total : std::llround(*value * 1e4);
          return nvml::kSuccess;
        });
  }
}

// KB/s over the 20 ms that the call takes: a sample of the traffic, added up to a counter.
void add_pcie_rates(NvidiaColumns& gpu) {
  for (const auto& [way, name] : {std::pair(1U, "receive"), std::pair(0U, "transmit")}) {
    gpu.add("hw.gpu.pcie.io", {{"direction", name}}, {1000, 1}, GpuPace::slow,
            [&library = gpu.library(), device = gpu.device(), which = way, total = 0.0,
             before = int64_t{0}](int64_t& raw) mutable {
              if (library.pcie_rate == nullptr) return nvml::kFunctionNotFound;
              unsigned kilobytes = 0;
              const Return result = library.pcie_rate(device, which, &kilobytes);
              const int64_t now = monotonic_ns();
              if (before != 0) total += kilobytes * to_seconds(now - before);
              before = now;
              raw = std::llround(total);
              return result;
            });
  }
}

// Before Hopper there are no GPM counters; other calls may still report links.
void add_links_without_gpm(NvidiaColumns& gpu) {
  for (const GpmColumn& column : kGpm) {
    if (column.direction != nullptr) continue;
    gpu.missing.push_back(
        {column.metric,
         fmt::format("GPU {} has no GPM counters: they need Hopper or later", gpu.label), ""});
  }
  add_pcie_rates(gpu);
  for (const FieldColumn& column : kNvlinkFields) {
    gpu.add(column.metric, {{column.label, column.value}}, column.scale, GpuPace::slow,
            gpu.field(column.field, column.scope));
  }
}

void add_job(NvidiaColumns& gpu) {
  const auto job = std::make_shared<JobOnGpu>(gpu.library(), gpu.device());
  gpu.add("job.gpu.memory.usage", {}, {}, GpuPace::slow,
          [&gpu, job](int64_t& raw) { return job->memory(gpu.job(), raw); });
  gpu.add("job.gpu.sm_utilization", {}, {1, 100}, GpuPace::slow,
          [&gpu, job](int64_t& raw) { return job->sm_share(gpu.job(), raw); });
}

}  // namespace

void add_nvidia_activity(NvidiaColumns& gpu, const NvidiaPlace& place) {
  const auto gpm = std::make_shared<GpmReading>(gpu.library(), place.parent, place.instance);
  add_utilisation(gpu);
  gpu.add("hw.gpu.pcie.generation", {}, {}, GpuPace::slow,
          gpu.number(gpu.library().pcie_generation));
  gpu.add("hw.gpu.pcie.width", {}, {}, GpuPace::slow, gpu.number(gpu.library().pcie_width));
  if (gpm->supported()) {
    add_gpm(gpu, gpm);
  } else {
    add_links_without_gpm(gpu);
  }
  add_job(gpu);
}

}  // namespace trainscope
