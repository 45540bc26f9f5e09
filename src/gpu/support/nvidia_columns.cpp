#include "gpu/support/nvidia_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"

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

// Some calls poll the GPU's firmware, on an H200 3.5 ms for the energy. What a call costs depends
// on GPU, driver and load: a slow column is read as a rare one from its first dear call on.
Return timed(const NvidiaColumns::Read& read, int64_t& raw, bool& is_dear) {
  const int64_t begin = thread_cpu_ns();
  const Return result = read(raw);
  is_dear = thread_cpu_ns() - begin >= kDearCallNs;
  return result;
}

// Before the job runs: twice, because the first call may prepare something.
bool is_dear_at_once(const NvidiaColumns::Read& read) {
  int64_t probe = 0;
  bool is_dear = true;
  for (int i = 0; i < 2 && is_dear; ++i) timed(read, probe, is_dear);
  return is_dear;
}

}  // namespace

// Only the thread that reads `slow` and `rare` looks at is_dear_.
bool NvidiaColumns::is_due(size_t column, GpuPace pace) const {
  const GpuPace own = columns[column].pace;
  if (pace == GpuPace::fast || own == GpuPace::fast) return own == pace;
  return is_dear_[column] == (pace == GpuPace::rare);
}

GpuHealth NvidiaColumns::read(GpuPace pace, std::span<int64_t> values,
                              const std::vector<pid_t>& job) {
  if (pace != GpuPace::fast) job_ = &job;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!is_due(i, pace) || !is_read(columns[i])) continue;
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

void NvidiaColumns::add(const char* metric, Labels more, Scale scale, GpuPace pace, Read read) {
  int64_t probe = 0;
  const Return result = read(probe);
  if (result != nvml::kSuccess && result != nvml::kNoData) return miss(metric, result);
  is_dear_.push_back(pace == GpuPace::slow && is_dear_at_once(read));
  more.emplace_back("gpu", label);
  std::sort(more.begin(), more.end());
  columns.push_back({metric, std::move(more), scale, pace});
  reads_.push_back(std::move(read));
}

void NvidiaColumns::miss(const char* metric, Return result) {
  const std::string reason = result == nvml::kFunctionNotFound
                                 ? std::string("not supported: the driver is too old")
                                 : "the driver reports: " + library_.error_text(result);
  const bool forbidden = result == nvml::kNoPermission;
  missing.push_back(
      {metric, fmt::format("GPU {}: {}", label, reason), forbidden ? "run as root" : ""});
}

NvidiaColumns::Read NvidiaColumns::number(Return (*call)(nvml::Device, unsigned*)) const {
  return [device = device_, call](int64_t& raw) {
    if (call == nullptr) return nvml::kFunctionNotFound;
    unsigned value = 0;
    const Return result = call(device, &value);
    raw = value;
    return result;
  };
}

NvidiaColumns::Read NvidiaColumns::field(nvml::Field id, unsigned scope) const {
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

bool NvidiaColumns::works(const Read& read) {
  int64_t raw = 0;
  const Return result = read(raw);
  return result == nvml::kSuccess || result == nvml::kNoData;
}

}  // namespace trainscope
