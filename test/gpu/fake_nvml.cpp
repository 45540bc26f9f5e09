// A libnvidia-ml.so.1 for tests: three GPUs with known numbers that can be made to misbehave.
//
// The file `control` next to this library is read in every call (a helper of the recorder gets no
// variable that could name it). Its words: `count=N`, `hang=I` (calls for GPU I do not return while
// it is there), `lost=I`, `error=I` (unknown error), `reload` (every call returns "uninitialized"),
// `dear=I` (reading the energy of GPU I costs 4 ms of CPU), `starting` (nvmlInit does not return
// while it is there), `gpm=I` (GPU I has counters as since Hopper), `process=I:PID:BYTES`,
// `xid=I:NUMBER`. Structs are those of NVML's binary interface, declared again so that a mistake in
// our own declarations shows.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kOk = 0, kUninit = 1, kUnsupported = 3, kNotFound = 6, kTimeout = 10, kLost = 15,
              kUnknown = 999;

struct Device {
  int index;
};
Device devices[3] = {{0}, {1}, {2}};

std::multimap<std::string, std::string> words() {
  std::multimap<std::string, std::string> all;
  Dl_info self{};
  ::dladdr(reinterpret_cast<void*>(&words), &self);
  const std::string library = self.dli_fname == nullptr ? "" : self.dli_fname;
  std::ifstream file(library.substr(0, library.rfind('/') + 1) + "control");
  for (std::string word; file >> word;) {
    const size_t equals = word.find('=');
    all.emplace(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1));
  }
  return all;
}

bool is_set(const char* what, int index) {
  const auto all = words();
  const auto [begin, end] = all.equal_range(what);
  for (auto it = begin; it != end; ++it) {
    if (std::atoi(it->second.c_str()) == index) return true;
  }
  return false;
}

int check(const Device* device) {
  if (words().contains("reload")) return kUninit;
  while (is_set("hang", device->index)) ::usleep(20'000);
  if (is_set("lost", device->index)) return kLost;
  if (is_set("error", device->index)) return kUnknown;
  return kOk;
}

unsigned long long now_us() {
  return static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::microseconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count());
}

// As long as an H200 takes for its energy.
void use_cpu() {
  const std::clock_t begin = std::clock();
  while (std::clock() - begin < 4 * CLOCKS_PER_SEC / 1000) {
  }
}

int gpu_count() {
  const auto all = words();
  const auto found = all.find("count");
  return found == all.end() ? 3 : std::atoi(found->second.c_str());
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  while (words().contains("starting")) ::usleep(20'000);
  return kOk;
}
const char* nvmlErrorString(int result) {
  return result == kUnsupported ? "Not Supported" : result == kLost ? "GPU is lost" : "Some error";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpu_count());
  return words().contains("reload") ? kUninit : kOk;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** device) {
  if (static_cast<int>(index) >= gpu_count()) return kNotFound;
  *device = &devices[index];
  return is_set("lost", static_cast<int>(index)) ? kLost : kOk;
}
int nvmlDeviceGetName(Device* device, char* text, unsigned size) {
  std::snprintf(text, size, "Fake %d", device->index);
  return kOk;
}
int nvmlDeviceGetUUID(Device* device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-fake-%d", device->index);
  return kOk;
}
int nvmlDeviceGetUtilizationRates(Device* device, unsigned both[2]) {
  both[0] = 40 + static_cast<unsigned>(device->index);
  both[1] = 20 + static_cast<unsigned>(device->index);
  return check(device);
}
// Utilisation is measured every 400 ms.
int nvmlDeviceGetSamples(Device* device, int kind, unsigned long long, int* type, unsigned* count,
                         void* samples) {
  struct Sample {
    unsigned long long time_us, value;
  };
  if (kind != 1) return kUnsupported;
  if (const int result = check(device); result != kOk) return result;
  *type = 1;
  for (unsigned i = 0; samples != nullptr && i < *count; ++i) {
    static_cast<Sample*>(samples)[i] = {1'000'000 + i * 400'000ULL, 40};
  }
  *count = 8;
  return kOk;
}
int nvmlDeviceGetPowerUsage(Device* device, unsigned* milliwatts) {
  *milliwatts = 300'000 + 1000 * static_cast<unsigned>(device->index);
  return check(device);
}
int nvmlDeviceGetMemoryInfo(Device* device, unsigned long long sizes[3]) {
  sizes[0] = 80ULL << 30U;
  sizes[2] = 10ULL << 30U;
  sizes[1] = sizes[0] - sizes[2];
  return check(device);
}
int nvmlDeviceGetTemperature(Device* device, int, unsigned* degrees) {
  *degrees = 60 + static_cast<unsigned>(device->index);
  return check(device);
}
int nvmlDeviceGetTotalEnergyConsumption(Device* device, unsigned long long* millijoules) {
  if (is_set("dear", device->index)) use_cpu();
  *millijoules = now_us() / 1000 * 300;  // 300 W
  return check(device);
}
int nvmlDeviceGetClockInfo(Device* device, int clock, unsigned* megahertz) {
  *megahertz = clock == 1 ? 1980 : 2619;
  return check(device);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device* device, unsigned long long* bits) {
  *bits = 0x4;
  return check(device);
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device* device, unsigned* count, void* infos) {
  struct Info {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
  };
  auto* to = static_cast<Info*>(infos);
  const unsigned room = *count;
  *count = 0;
  const auto all = words();
  const auto [begin, end] = all.equal_range("process");
  for (auto it = begin; it != end && *count < room; ++it) {
    int index = 0;
    unsigned pid = 0;
    unsigned long long bytes = 0;
    if (std::sscanf(it->second.c_str(), "%d:%u:%llu", &index, &pid, &bytes) != 3) continue;
    if (index == device->index) to[(*count)++] = {pid, bytes, 0, 0};
  }
  return check(device);
}
// Values by number, in the types that drivers use.
int nvmlDeviceGetFieldValues(Device* device, int count, void* values) {
  struct Field {
    unsigned number, scope;
    long long time_us, latency_us;
    unsigned type;
    int result;
    union {
      double real;
      unsigned small;
      unsigned long long large;
    } value;
  };
  constexpr unsigned kSmall = 1, kLarge = 3, kEveryLink = 0xffffffff;
  for (int i = 0; i < count; ++i) {
    Field& field = static_cast<Field*>(values)[i];
    field.result = kOk;
    field.type = kLarge;
    if (field.number == 82) {  // temperature of the memory
      field.type = kSmall;
      field.value.small = 70 + static_cast<unsigned>(device->index);
    } else if (field.number == 74) {  // throttled by power, ns
      field.value.large = 3'000'000'000;
    } else if (field.number == 138 && field.scope == kEveryLink) {  // NVLink sent, KiB
      field.value.large = 7000;
    } else if (field.number == 139 && field.scope == kEveryLink) {  // received
      field.value.large = 5000;
    } else {
      field.result = kUnsupported;
    }
  }
  return check(device);
}
int nvmlDeviceGetCurrPcieLinkGeneration(Device* device, unsigned* generation) {
  *generation = 4;
  return check(device);
}
int nvmlDeviceGetCurrPcieLinkWidth(Device* device, unsigned* lanes) {
  *lanes = 16;
  return check(device);
}
// KB/s; 0 is sent, 1 received.
int nvmlDeviceGetPcieThroughput(Device* device, unsigned way, unsigned* kilobytes) {
  *kilobytes = way == 0 ? 1000 : 2000;
  return check(device);
}
int nvmlGpmQueryDeviceSupport(Device* device, unsigned version_and_answer[2]) {
  version_and_answer[1] = is_set("gpm", device->index) ? 1 : 0;
  return check(device);
}
int nvmlGpmSampleAlloc(void** sample) {
  *sample = new int;
  return kOk;
}
int nvmlGpmSampleGet(Device* device, void*) { return check(device); }
int nvmlGpmMetricsGet(void* request) {
  struct Metric {
    unsigned number;
    int result;
    double value;
    const char* names[3];
  };
  struct Request {
    unsigned version, count;
    void *before, *after;
    Metric metrics[1];
  };
  // Percent, and MiB/s of PCIe and NVLink.
  static const std::map<unsigned, double> kValues = {
      {2, 75}, {3, 50}, {5, 25}, {10, 40}, {12, 10}, {20, 100}, {21, 200}, {60, 300}, {61, 400}};
  auto* all = static_cast<Request*>(request);
  for (unsigned i = 0; i < all->count; ++i) {
    Metric& metric = all->metrics[i];
    const auto found = kValues.find(metric.number);
    metric.result = found == kValues.end() ? kUnsupported : kOk;
    if (found != kValues.end()) metric.value = found->second;
  }
  return kOk;
}
int nvmlEventSetCreate(void** set) {
  static int anything;
  *set = &anything;
  return kOk;
}
int nvmlDeviceRegisterEvents(Device*, unsigned long long, void*) { return kOk; }
int nvmlEventSetWait_v2(void*, void* data, unsigned milliseconds) {
  struct Event {
    Device* device;
    unsigned long long type, number;
    unsigned gpu_instance, compute_instance;
  };
  static bool given = false;
  for (unsigned waited = 0; waited < milliseconds; waited += 20) {
    const auto all = words();
    const auto xid = all.find("xid");
    int index = 0;
    unsigned long long number = 0;
    if (!given && xid != all.end() &&
        std::sscanf(xid->second.c_str(), "%d:%llu", &index, &number) == 2) {
      given = true;
      *static_cast<Event*>(data) = {&devices[index], 8, number, 0, 0};
      return kOk;
    }
    ::usleep(20'000);
  }
  return kTimeout;
}

}  // extern "C"
