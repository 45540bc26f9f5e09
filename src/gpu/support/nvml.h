// The part of NVML that is used, with our own declarations: NVIDIA's header is not free software.
//
// Types and numbers are the library's binary interface, which is stable across drivers. A function
// that this driver lacks is null and its metrics are absent.
#pragma once

#include <cstdint>
#include <string>

namespace trainscope::nvml {

using Return = unsigned;
inline constexpr Return kSuccess = 0, kUninitialized = 1, kNotSupported = 3, kNoPermission = 4,
                        kNotFound = 6, kInsufficientSize = 7, kDriverNotLoaded = 9,
                        kFunctionNotFound = 13, kGpuIsLost = 15, kResetRequired = 16,
                        kVersionMismatch = 18, kNoData = 21, kGpuNotFound = 28;

using Device = struct DeviceHandle*;
using EventSet = struct EventSetHandle*;
using GpmSample = struct GpmSampleHandle*;

union Value {
  double as_double;
  unsigned as_uint;
  unsigned long long as_ulonglong;
  long long as_longlong;
  int as_int;
};
enum ValueType : unsigned { kDouble, kUint, kUlong, kUlonglong, kLonglong, kInt };

struct Sample {
  unsigned long long time_us;
  Value value;
};
enum SampleKind : unsigned { kPowerSamples, kGpuSamples, kMemorySamples, kEncoder, kDecoder };

struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct FieldValue {
  unsigned field, scope;
  long long time_us, latency_us;
  ValueType type;
  Return result;
  Value value;
};
struct ProcessInfo {  // v2 and v3 of the call
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct ProcessSample {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;
};
struct EventData {
  Device device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct GpmSupport {
  unsigned version = 1, supported = 0;
};
struct GpmMetric {
  unsigned id;
  Return result;
  double value;
  const char *short_name, *long_name, *unit;
};
// The library's own has space for hundreds of metrics; it uses only the first `count`.
struct GpmMetrics {
  unsigned version = 1, count = 0;
  GpmSample before = nullptr, after = nullptr;
  GpmMetric metric[16] = {};
};

enum Clock : unsigned { kGraphicsClock, kSmClock, kMemoryClock };
enum Field : unsigned {
  kSyncBoostTime = 76,
  kPowerCapTime = 74,
  kMemoryTemperature = 82,
  kNvlinkTransmitted = 138,  // KiB
  kNvlinkReceived = 139,
  kPowerInstant = 186,  // mW
  kPcieTransmitted = 197,
  kPcieReceived = 198,
  kSwThermalTime = 269,
  kHwThermalTime = 270,
  kPowerBrakeTime = 271,
};
enum Gpm : unsigned {
  kSmActive = 2,
  kSmOccupancy = 3,
  kTensorActive = 5,
  kDramActive = 10,
  kFp32Active = 12,
  kPcieTransmitRate = 20,  // MiB/s
  kPcieReceiveRate = 21,
  kNvlinkReceiveRate = 60,
  kNvlinkTransmitRate = 61,
};
inline constexpr unsigned long long kXidEvent = 8;
inline constexpr unsigned kAllLinks = 0xffffffff;
inline constexpr unsigned kVolatile = 0, kCorrected = 0, kUncorrected = 1;
inline constexpr unsigned long long kMemoryUnknown =
    ~0ULL;  // a process whose memory is not reported

// name in the library, member, parameters
#define TRAINSCOPE_NVML_FUNCTIONS(F)                                                       \
  F(nvmlInit_v2, init, ())                                                                 \
  F(nvmlDeviceGetCount_v2, count, (unsigned*))                                             \
  F(nvmlDeviceGetHandleByIndex_v2, by_index, (unsigned, Device*))                          \
  F(nvmlDeviceGetName, name, (Device, char*, unsigned))                                    \
  F(nvmlDeviceGetUUID, uuid, (Device, char*, unsigned))                                    \
  F(nvmlDeviceGetUtilizationRates, utilization, (Device, Utilization*))                    \
  F(nvmlDeviceGetSamples, samples,                                                         \
    (Device, SampleKind, unsigned long long, ValueType*, unsigned*, Sample*))              \
  F(nvmlDeviceGetMemoryInfo_v2, memory_v2, (Device, MemoryV2*))                            \
  F(nvmlDeviceGetMemoryInfo, memory, (Device, Memory*))                                    \
  F(nvmlDeviceGetTemperature, temperature, (Device, unsigned, unsigned*))                  \
  F(nvmlDeviceGetPowerUsage, power, (Device, unsigned*))                                   \
  F(nvmlDeviceGetTotalEnergyConsumption, energy, (Device, unsigned long long*))            \
  F(nvmlDeviceGetClockInfo, clock, (Device, Clock, unsigned*))                             \
  F(nvmlDeviceGetPerformanceState, performance_state, (Device, unsigned*))                 \
  F(nvmlDeviceGetFanSpeed, fan, (Device, unsigned*))                                       \
  F(nvmlDeviceGetEncoderUtilization, encoder, (Device, unsigned*, unsigned*))              \
  F(nvmlDeviceGetDecoderUtilization, decoder, (Device, unsigned*, unsigned*))              \
  F(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation, (Device, unsigned*))             \
  F(nvmlDeviceGetCurrPcieLinkWidth, pcie_width, (Device, unsigned*))                       \
  F(nvmlDeviceGetPcieThroughput, pcie_rate, (Device, unsigned, unsigned*))                 \
  F(nvmlDeviceGetCurrentClocksThrottleReasons, throttle, (Device, unsigned long long*))    \
  F(nvmlDeviceGetTotalEccErrors, ecc, (Device, unsigned, unsigned, unsigned long long*))   \
  F(nvmlDeviceGetFieldValues, fields, (Device, int, FieldValue*))                          \
  F(nvmlDeviceGetComputeRunningProcesses_v3, processes, (Device, unsigned*, ProcessInfo*)) \
  F(nvmlDeviceGetGraphicsRunningProcesses_v3, drawing, (Device, unsigned*, ProcessInfo*))  \
  F(nvmlDeviceGetProcessUtilization, process_samples,                                      \
    (Device, ProcessSample*, unsigned*, unsigned long long))                               \
  F(nvmlEventSetCreate, new_events, (EventSet*))                                           \
  F(nvmlDeviceRegisterEvents, watch, (Device, unsigned long long, EventSet))               \
  F(nvmlEventSetWait_v2, wait, (EventSet, EventData*, unsigned))                           \
  F(nvmlGpmQueryDeviceSupport, gpm_support, (Device, GpmSupport*))                         \
  F(nvmlGpmSampleAlloc, gpm_new, (GpmSample*))                                             \
  F(nvmlGpmSampleGet, gpm_take, (Device, GpmSample))                                       \
  F(nvmlGpmMigSampleGet, gpm_take_of_instance, (Device, unsigned, GpmSample))              \
  F(nvmlGpmMetricsGet, gpm_compare, (GpmMetrics*))                                         \
  F(nvmlDeviceGetMigMode, mig_mode, (Device, unsigned*, unsigned*))                        \
  F(nvmlDeviceGetMaxMigDeviceCount, mig_count, (Device, unsigned*))                        \
  F(nvmlDeviceGetMigDeviceHandleByIndex, mig_by_index, (Device, unsigned, Device*))        \
  F(nvmlDeviceGetGpuInstanceId, gpu_instance, (Device, unsigned*))

struct Library {
#define TRAINSCOPE_NVML_MEMBER(symbol, member, parameters) Return(*member) parameters = nullptr;
  TRAINSCOPE_NVML_FUNCTIONS(TRAINSCOPE_NVML_MEMBER)
#undef TRAINSCOPE_NVML_MEMBER
  const char* (*error_string)(Return) = nullptr;

  std::string error_text(Return result) const {
    return error_string == nullptr ? "error " + std::to_string(result) : error_string(result);
  }
};

}  // namespace trainscope::nvml
