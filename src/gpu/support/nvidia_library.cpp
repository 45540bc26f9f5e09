#include "gpu/support/nvidia_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace trainscope {

namespace {

constexpr unsigned kWaitMs = 1000;

// "Xid 79" alone does not help; these are the ones that end trainings.
std::string xid_text(unsigned long long number) {
  struct Known {
    unsigned long long number;
    const char* meaning;
  };
  static constexpr Known kKnown[] = {
      {13, "graphics engine exception, often a fault of the program"},
      {31, "memory page fault, often a fault of the program"},
      {43, "the program was stopped"},
      {45, "the program was ended"},
      {48, "uncorrectable memory error"},
      {63, "memory row remapped"},
      {64, "memory row could not be remapped"},
      {74, "NVLink error"},
      {79, "the GPU has fallen off the bus"},
      {92, "many corrected memory errors"},
      {94, "contained memory error"},
      {95, "uncontained memory error"},
      {119, "no reply from the GPU's system processor"},
  };
  for (const Known& known : kKnown) {
    if (known.number == number) return fmt::format("Xid {}: {}", number, known.meaning);
  }
  return fmt::format("Xid {}", number);
}

Result<const nvml::Library*> load() {
  void* handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) handle = ::dlopen("libnvidia-ml.so", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Error("libnvidia-ml.so.1, NVIDIA's management library, is not installed");
  static nvml::Library library;
  const auto find = [handle](const char* symbol) { return ::dlsym(handle, symbol); };
#define TRAINSCOPE_NVML_FIND(symbol, member, parameters) \
  library.member = reinterpret_cast<decltype(library.member)>(find(#symbol));
  TRAINSCOPE_NVML_FUNCTIONS(TRAINSCOPE_NVML_FIND)
#undef TRAINSCOPE_NVML_FIND
  library.error_string = reinterpret_cast<decltype(library.error_string)>(find("nvmlErrorString"));
  if (library.init == nullptr || library.count == nullptr || library.by_index == nullptr) {
    return Error("the NVIDIA driver is older than release 285 and cannot be queried");
  }
  const nvml::Return result = library.init();
  if (result != nvml::kSuccess)
    return Error("NVIDIA's driver reports: " + library.error_text(result));
  return &library;
}

}  // namespace

Result<const nvml::Library*> nvidia_library() {
  static const Result<const nvml::Library*> loaded = load();
  return loaded;
}

void XidWatch::add(nvml::Device device) {
  if (library_.new_events == nullptr || library_.watch == nullptr || library_.wait == nullptr)
    return;
  if (set_ == nullptr && !failed_) {
    failed_ = library_.new_events(&set_) != nvml::kSuccess;
    if (!failed_) std::thread([this, set = set_] { wait_for_ever(set); }).detach();
  }
  if (!failed_) (void)library_.watch(device, nvml::kXidEvent, set_);
}

void XidWatch::wait_for_ever(nvml::EventSet set) {
  for (;;) {
    nvml::EventData event{};
    const nvml::Return result = library_.wait(set, &event, kWaitMs);
    if (result == nvml::kSuccess) {
      const std::lock_guard lock(mutex_);
      events_[event.device].push_back(xid_text(event.data));
    } else {
      // A timeout took its second; an error that comes at once must not make us spin.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

std::vector<std::string> XidWatch::take(nvml::Device device) {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_[device], {});
}

}  // namespace trainscope
