#include "gpu/support/nvidia_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "gpu/support/nvidia_readings.h"
#include "gpu/support/nvidia_tables.h"

namespace trainscope {

namespace {

using nvml::Return;

constexpr int64_t kDearCallNs = 500'000;

int64_t integer_of(const nvml::FieldValue& field) {
  switch (field.type) {
    case nvml::kDouble:
      return std::llround(field.value.as_double);
    case nvml::kUint:
      return field.value.as_uint;
    case nvml::kInt:
      return field.value.as_int;
    default:
      return static_cast<int64_t>(field.value.as_ulonglong);
  }
}

class NvidiaGpu : public Gpu {
 public:
  NvidiaGpu(const nvml::Library& library, XidWatch& xids, nvml::Device device)
      : library_(library), xids_(xids), device_(device) {}

  void open(const NvidiaPlace& place) {
    gpm_ = std::make_unique<GpmReading>(library_, place.parent, place.instance);
    job_on_gpu_ = std::make_unique<JobOnGpu>(library_, device_);
    add_utilisation();
    add_memory();
    add_power_and_heat();
    add_clocks();
    add_gpm();
    add_links();
    add_fields();
    add_job();
    if (!place.instance) xids_.add(device_);
    utilization_ns_ = 0;  // a first read to check support is not a sample
  }

  GpuHealth read(GpuPace pace, std::span<int64_t> values, const std::vector<pid_t>& job) override {
    if (pace != GpuPace::fast) job_ = &job;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!is_due(i, pace)) continue;
      values[i] = kAbsent;
      int64_t raw = kAbsent;
      bool is_dear = false;
      const Return result = pace == GpuPace::slow ? timed(reads_[i], raw, is_dear) : reads_[i](raw);
      if (is_dear) is_dear_[i] = true;
      switch (result) {
        case nvml::kSuccess:
          values[i] = raw;
          break;
        case nvml::kGpuIsLost:
        case nvml::kResetRequired:
        case nvml::kGpuNotFound:
          return GpuHealth::lost;
        case nvml::kUninitialized:
        case nvml::kDriverNotLoaded:
        case nvml::kVersionMismatch:
          return GpuHealth::driver_gone;
        default:
          break;  // no value at this tick
      }
    }
    return GpuHealth::ok;
  }

  std::vector<std::string> take_events() override { return xids_.take(device_); }

 private:
  using Read = std::function<Return(int64_t&)>;

  // Some calls poll the GPU's firmware, on an H200 3.5 ms for the energy. What a call costs depends
  // on GPU, driver and load: a slow column is read as a rare one from its first dear call on.
  static Return timed(const Read& read, int64_t& raw, bool& is_dear) {
    const int64_t begin = thread_cpu_ns();
    const Return result = read(raw);
    is_dear = thread_cpu_ns() - begin >= kDearCallNs;
    return result;
  }

  // Before the job runs: twice, because the first call may prepare something.
  static bool is_dear_at_once(const Read& read) {
    int64_t probe = 0;
    bool is_dear = true;
    for (int i = 0; i < 2 && is_dear; ++i) timed(read, probe, is_dear);
    return is_dear;
  }

  // Only the thread that reads `slow` and `rare` looks at is_dear_.
  bool is_due(size_t i, GpuPace pace) const {
    const GpuPace own = columns[i].pace;
    if (pace == GpuPace::fast || own == GpuPace::fast) return own == pace;
    return is_dear_[i] == (pace == GpuPace::rare);
  }

  // A column if a first reading works; otherwise the metric is missing, with the driver's error
  // text.
  void add(const char* metric, Labels more, Scale scale, GpuPace pace, Read read) {
    int64_t probe = 0;
    const Return result = read(probe);
    if (result == nvml::kSuccess || result == nvml::kNoData) {
      is_dear_.push_back(pace == GpuPace::slow && is_dear_at_once(read));
      more.emplace_back("gpu", label);
      std::sort(more.begin(), more.end());
      columns.push_back({metric, std::move(more), scale, pace});
      reads_.push_back(std::move(read));
      return;
    }
    miss(metric, result);
  }

  void miss(const char* metric, Return result) {
    const std::string reason = result == nvml::kFunctionNotFound
                                   ? std::string("not supported: the driver is too old")
                                   : "the driver reports: " + library_.error_text(result);
    const bool forbidden = result == nvml::kNoPermission;
    missing.push_back(
        {metric, fmt::format("GPU {}: {}", label, reason), forbidden ? "run as root" : ""});
  }

  // A call that fills one unsigned number.
  Read number(Return (*call)(nvml::Device, unsigned*)) {
    return [this, call](int64_t& raw) {
      if (call == nullptr) return nvml::kFunctionNotFound;
      unsigned value = 0;
      const Return result = call(device_, &value);
      raw = value;
      return result;
    };
  }

  Read field(nvml::Field id, unsigned scope) {
    return [this, id, scope](int64_t& raw) {
      if (library_.fields == nullptr) return nvml::kFunctionNotFound;
      nvml::FieldValue now{};
      now.field = id;
      now.scope = scope;
      const Return result = library_.fields(device_, 1, &now);
      if (result != nvml::kSuccess) return result;
      raw = integer_of(now);
      return now.result;
    };
  }

  static bool works(const Read& read) {
    int64_t raw = 0;
    const Return result = read(raw);
    return result == nvml::kSuccess || result == nvml::kNoData;
  }

  // The driver measures a few times per second: reading the same value again is not another sample.
  Return read_utilization() {
    if (library_.utilization == nullptr) return nvml::kFunctionNotFound;
    const int64_t now = monotonic_ns();
    if (now - utilization_ns_ < period_ns_ * 9 / 10) return nvml::kNoData;
    utilization_ns_ = now;
    return library_.utilization(device_, &utilization_);
  }

  void add_utilisation() {
    period_ns_ = driver_sample_period_ns(library_, device_, nvml::kGpuSamples);
    add("hw.gpu.utilization", {}, {1, 100}, GpuPace::fast, [this](int64_t& raw) {
      utilization_result_ = read_utilization();
      raw = utilization_.gpu;
      return utilization_result_;
    });
    add("hw.gpu.memory.controller.utilization", {}, {1, 100}, GpuPace::fast, [this](int64_t& raw) {
      raw = utilization_.memory;
      return utilization_result_;
    });
    const auto engine = [this](Return (*call)(nvml::Device, unsigned*, unsigned*)) -> Read {
      return [this, call](int64_t& raw) {
        if (call == nullptr) return nvml::kFunctionNotFound;
        unsigned value = 0, period_us = 0;
        const Return result = call(device_, &value, &period_us);
        raw = value;
        return result;
      };
    };
    add("hw.gpu.encoder.utilization", {}, {1, 100}, GpuPace::slow, engine(library_.encoder));
    add("hw.gpu.decoder.utilization", {}, {1, 100}, GpuPace::slow, engine(library_.decoder));
  }

  Return read_memory(int64_t& used, int64_t& total) const {
    nvml::MemoryV2 now{};
    now.version = static_cast<unsigned>(sizeof now) | 2U << 24U;
    if (library_.memory_v2 != nullptr && library_.memory_v2(device_, &now) == nvml::kSuccess) {
      used = static_cast<int64_t>(now.used);
      total = static_cast<int64_t>(now.total);
      return nvml::kSuccess;
    }
    if (library_.memory == nullptr) return nvml::kFunctionNotFound;
    nvml::Memory before{};  // before release 510 memory reserved by the driver counts as used
    const Return result = library_.memory(device_, &before);
    used = static_cast<int64_t>(before.used);
    total = static_cast<int64_t>(before.total);
    return result;
  }

  void add_memory() {
    add("hw.gpu.memory.usage", {}, {}, GpuPace::fast, [this](int64_t& raw) {
      int64_t total = 0;
      return read_memory(raw, total);
    });
    add("hw.gpu.memory.limit", {}, {}, GpuPace::slow, [this](int64_t& raw) {
      int64_t used = 0;
      return read_memory(used, raw);
    });
    int64_t used = 0, total = 0;
    if (read_memory(used, total) == nvml::kSuccess) memory_bytes = total;
    for (const auto& [type, name] :
         {std::pair(nvml::kCorrected, "corrected"), std::pair(nvml::kUncorrected, "uncorrected")}) {
      add("hw.gpu.ecc.errors", {{"type", name}}, {}, GpuPace::slow,
          [this, kind = type](int64_t& raw) {
            if (library_.ecc == nullptr) return nvml::kFunctionNotFound;
            unsigned long long count = 0;
            const Return result = library_.ecc(device_, kind, nvml::kVolatile, &count);
            raw = static_cast<int64_t>(count);
            return result;
          });
    }
  }

  void add_power_and_heat() {
    add("hw.gpu.temperature", {}, {}, GpuPace::fast, [this](int64_t& raw) {
      if (library_.temperature == nullptr) return nvml::kFunctionNotFound;
      unsigned degrees = 0;
      const Return result = library_.temperature(device_, 0, &degrees);
      raw = degrees;
      return result;
    });
    // The instantaneous value if the driver reports it; its other value is the mean of a second.
    const Read instant = field(nvml::kPowerInstant, 0);
    add("hw.gpu.power", {}, {1, 1000}, GpuPace::fast,
        works(instant) ? instant : number(library_.power));
    add("hw.gpu.energy", {}, {1, 1000}, GpuPace::slow, [this](int64_t& raw) {
      if (library_.energy == nullptr) return nvml::kFunctionNotFound;
      unsigned long long millijoules = 0;
      const Return result = library_.energy(device_, &millijoules);
      raw = static_cast<int64_t>(millijoules);
      return result;
    });
    add("hw.gpu.fan.speed", {}, {1, 100}, GpuPace::slow, number(library_.fan));
  }

  void add_clocks() {
    for (const auto& [clock, name] :
         {std::pair(nvml::kSmClock, "sm"), std::pair(nvml::kMemoryClock, "memory")}) {
      add("hw.gpu.clock", {{"clock", name}}, {1'000'000, 1}, GpuPace::fast,
          [this, which = clock](int64_t& raw) {
            if (library_.clock == nullptr) return nvml::kFunctionNotFound;
            unsigned megahertz = 0;
            const Return result = library_.clock(device_, which, &megahertz);
            raw = megahertz;
            return result;
          });
    }
    add("hw.gpu.performance_state", {}, {}, GpuPace::slow, number(library_.performance_state));
    for (const ThrottleReason& reason : kReasons) {
      const bool first = &reason == std::begin(kReasons);
      add("hw.gpu.throttle", {{"reason", reason.name}}, {}, GpuPace::fast,
          [this, first, bit = reason.bit](int64_t& raw) {
            if (first) throttle_result_ = read_throttle();
            raw = (throttle_bits_ & bit) != 0 ? 1 : 0;
            return throttle_result_;
          });
    }
  }

  Return read_throttle() {
    if (library_.throttle == nullptr) return nvml::kFunctionNotFound;
    return library_.throttle(device_, &throttle_bits_);
  }

  void add_gpm();
  void add_links();
  void add_fields();
  void add_job();

  const nvml::Library& library_;
  XidWatch& xids_;
  nvml::Device device_;
  std::unique_ptr<GpmReading> gpm_;
  std::unique_ptr<JobOnGpu> job_on_gpu_;
  std::vector<Read> reads_;    // one per column
  std::vector<bool> is_dear_;  // one per column: a call was too dear for `slow`
  int64_t period_ns_ = -1, utilization_ns_ = 0;
  nvml::Utilization utilization_{};
  Return utilization_result_ = nvml::kNoData;
  unsigned long long throttle_bits_ = 0;
  Return throttle_result_ = nvml::kNoData, gpm_result_ = nvml::kNoData;
  const std::vector<pid_t>* job_ = nullptr;
};

void NvidiaGpu::add_gpm() {
  for (const GpmColumn& column : kGpm) {
    if (!gpm_->supported()) {
      // Other calls may still report links.
      if (column.direction != nullptr) continue;
      missing.push_back(
          {column.metric,
           fmt::format("GPU {} has no GPM counters: they need Hopper or later", label), ""});
      continue;
    }
    const bool first = &column == std::begin(kGpm);
    Labels labels;
    if (column.direction != nullptr) labels = {{"direction", column.direction}};
    const Scale percent{1, 1'000'000}, bytes{1, 1};
    add(column.metric, labels, column.direction != nullptr ? bytes : percent, GpuPace::fast,
        [this, first, id = column.id, adds = column.direction != nullptr,
         total = int64_t{0}](int64_t& raw) mutable {
          if (first) gpm_result_ = gpm_->take();
          const auto value = gpm_result_ == nvml::kSuccess ? gpm_->value(id) : std::nullopt;
          if (!value) return gpm_result_ == nvml::kSuccess ? nvml::kNoData : gpm_result_;
          if (adds) total += std::llround(*value * gpm_->seconds() * 1024 * 1024);
          raw = adds ? total : std::llround(*value * 1e4);
          return nvml::kSuccess;
        });
  }
}

void NvidiaGpu::add_links() {
  add("hw.gpu.pcie.generation", {}, {}, GpuPace::slow, number(library_.pcie_generation));
  add("hw.gpu.pcie.width", {}, {}, GpuPace::slow, number(library_.pcie_width));
  if (gpm_->supported()) return;
  // KB/s over the 20 ms that the call takes: a sample of the traffic, added up to a counter.
  for (const auto& [way, name] : {std::pair(1U, "receive"), std::pair(0U, "transmit")}) {
    add("hw.gpu.pcie.io", {{"direction", name}}, {1000, 1}, GpuPace::slow,
        [this, way_ = way, total = 0.0, before = int64_t{0}](int64_t& raw) mutable {
          if (library_.pcie_rate == nullptr) return nvml::kFunctionNotFound;
          unsigned kilobytes = 0;
          const Return result = library_.pcie_rate(device_, way_, &kilobytes);
          const int64_t now = monotonic_ns();
          if (before != 0) total += kilobytes * to_seconds(now - before);
          before = now;
          raw = std::llround(total);
          return result;
        });
  }
}

void NvidiaGpu::add_fields() {
  for (const FieldColumn& column : kFields) {
    const bool has_it = std::any_of(columns.begin(), columns.end(), [&](const GpuColumn& other) {
      return other.metric == column.metric && column.metric == std::string_view("hw.gpu.nvlink.io");
    });
    if (has_it) continue;
    Labels labels;
    if (column.label != nullptr) labels = {{column.label, column.value}};
    add(column.metric, labels, column.scale, GpuPace::slow, field(column.field, column.scope));
  }
}

void NvidiaGpu::add_job() {
  const std::vector<pid_t> nobody;
  job_ = &nobody;
  add("job.gpu.memory.usage", {}, {}, GpuPace::slow,
      [this](int64_t& raw) { return job_on_gpu_->memory(*job_, raw); });
  add("job.gpu.sm_utilization", {}, {1, 100}, GpuPace::slow,
      [this](int64_t& raw) { return job_on_gpu_->sm_share(*job_, raw); });
  job_ = nullptr;
}

std::string text_of(Return (*call)(nvml::Device, char*, unsigned), nvml::Device device) {
  std::array<char, 96> text{};
  if (call == nullptr || call(device, text.data(), text.size() - 1) != nvml::kSuccess) return "";
  return text.data();
}

}  // namespace

std::unique_ptr<Gpu> open_nvidia_gpu(const nvml::Library& library, XidWatch& xids,
                                     const NvidiaPlace& place) {
  auto gpu = std::make_unique<NvidiaGpu>(library, xids, place.device);
  gpu->label = place.label;
  gpu->name = text_of(library.name, place.device);
  gpu->uuid = text_of(library.uuid, place.device);
  if (gpu->uuid.empty()) gpu->uuid = "nvidia-" + place.label;
  gpu->open(place);
  return gpu;
}

}  // namespace trainscope
