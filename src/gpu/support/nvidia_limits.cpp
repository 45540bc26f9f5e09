// Copies: blocks of 256 MiB, or less if memory is short, one after the other, each waited for; the
// fastest counts. Pinned memory is what `pin_memory=True` gives, pageable memory what malloc gives.
// Launches: an empty kernel of one thread; `latency` is launch and wait, `interval` the time
// between launches that nobody waits for.
#include "gpu/support/nvidia_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "gpu/support/cuda.h"

namespace trainscope {

namespace {

constexpr size_t kCopyBytes = size_t{256} << 20, kLeastCopyBytes = size_t{4} << 20;
constexpr int kBurst = 1000;  // launches; fewer than the driver's queue holds
constexpr std::array kNames = {"gpu.copy.host_to_device",
                               "gpu.copy.device_to_host",
                               "gpu.copy.host_to_device_pageable",
                               "gpu.copy.device_to_host_pageable",
                               "gpu.launch.latency",
                               "gpu.launch.interval"};

// A driver compiles for GPUs that are newer than the target; new ones refuse the oldest targets.
struct Target {
  const char *version, *name;
};
constexpr std::array<Target, 3> kTargets = {{{"6.0", "sm_50"}, {"6.3", "sm_75"}, {"7.8", "sm_90"}}};

class NvidiaLimits {
 public:
  NvidiaLimits(const cuda::Library& cuda, int64_t each_ns, MachineLimits& found)
      : cuda_(cuda), each_ns_(each_ns), found_(found) {}

  // The first GPU; an Error if it cannot be used.
  Status open() {
    int count = 0;
    TS_CHECK_OK(check(cuda_.count(&count)));
    if (count == 0) return Error("NVIDIA's driver is loaded but reports no GPU");
    cuda::Device device = 0;
    cuda::Context context = nullptr;
    std::array<char, 128> name{};
    TS_CHECK_OK(check(cuda_.device(&device, 0)));
    if (cuda_.name(name.data(), static_cast<int>(name.size()) - 1, device) == cuda::kSuccess) {
      name_ = name.data();
    }
    TS_CHECK_OK(check(cuda_.retain(&context, device)));
    return check(cuda_.set_current(context));
  }

  void measure_copies(int64_t buffer_bytes) {
    size_t bytes = kCopyBytes;
    while (bytes > kLeastCopyBytes && static_cast<int64_t>(2 * bytes) > buffer_bytes) bytes /= 2;
    cuda::Address there = 0;
    void* pinned = nullptr;
    Status ready = check(cuda_.allocate(&there, bytes));
    if (ready) ready = check(cuda_.allocate_pinned(&pinned, bytes));
    if (ready) {
      std::vector<char> pageable(bytes, 1);  // touched: its pages exist
      std::memset(pinned, 1, bytes);
      copy(0, bytes, "pinned", [&] { return cuda_.copy_to_device(there, pinned, bytes); });
      copy(1, bytes, "pinned", [&] { return cuda_.copy_to_host(pinned, there, bytes); });
      copy(2, bytes, "pageable",
           [&] { return cuda_.copy_to_device(there, pageable.data(), bytes); });
      copy(3, bytes, "pageable", [&] { return cuda_.copy_to_host(pageable.data(), there, bytes); });
    } else {
      for (size_t i = 0; i < 4; ++i) add_missing(kNames[i], ready.error());
    }
    if (pinned != nullptr) (void)cuda_.release_pinned(pinned);
    if (there != 0) (void)cuda_.release(there);
  }

  void measure_launches() {
    const auto kernel = empty_kernel();
    if (!kernel) {
      for (size_t i = 4; i < kNames.size(); ++i) add_missing(kNames[i], kernel.error());
      return;
    }
    const auto launch = [&, function = *kernel] {
      return cuda_.launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    };
    const auto launch_and_wait = [&] {
      const cuda::Return result = launch();
      return result == cuda::kSuccess ? cuda_.synchronize() : result;
    };
    const auto burst = [&] {
      cuda::Return result = cuda::kSuccess;
      for (int i = 0; i < kBurst && result == cuda::kSuccess; ++i) result = launch();
      return result == cuda::kSuccess ? cuda_.synchronize() : result;
    };
    // A launch takes microseconds: what interrupts one of them is not the GPU's limit.
    add_time(4, time_of(launch_and_wait, Choice::median), 1,
             "an empty kernel, launched and waited for");
    add_time(5, time_of(burst, Choice::median), kBurst,
             fmt::format("an empty kernel, {} launches in a row", kBurst));
  }

 private:
  enum class Choice { best, median };

  Status check(cuda::Return result) const {
    if (result == cuda::kSuccess) return {};
    return Error("NVIDIA's driver reports: " + cuda_.error_text(result));
  }

  void add_missing(const char* name, const Error& error) {
    found_.missing.push_back(
        {name, error.message(), "see nvidia-smi for what uses the GPU, and measure again"});
  }

  std::string on_gpu() const { return name_.empty() ? "" : fmt::format(" ({})", name_); }

  // Seconds of one call.
  Result<double> time_of(const std::function<cuda::Return()>& call, Choice choice) const {
    std::vector<double> times;
    TS_CHECK_OK(check(call()));  // the first one sets things up
    for (const int64_t end_ns = monotonic_ns() + each_ns_;
         times.size() < 3 || (monotonic_ns() < end_ns && times.size() < 100'000);) {
      const int64_t begin_ns = monotonic_ns();
      TS_CHECK_OK(check(call()));
      times.push_back(to_seconds(monotonic_ns() - begin_ns));
    }
    const auto middle = times.begin() + static_cast<long>(times.size() / 2);
    if (choice == Choice::best) return *std::min_element(times.begin(), times.end());
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  void copy(size_t index, size_t bytes, const char* memory,
            const std::function<cuda::Return()>& call) {
    // From pageable memory a call returns before the last part has arrived.
    const auto whole = [&] {
      const cuda::Return result = call();
      return result == cuda::kSuccess ? cuda_.synchronize() : result;
    };
    const auto time_s = time_of(whole, Choice::best);
    if (!time_s) return add_missing(kNames[index], time_s.error());
    add(index, static_cast<double>(bytes) / *time_s, "By/s",
        fmt::format("blocks of {} MiB of {} memory, GPU 0{}", bytes >> 20U, memory, on_gpu()));
  }

  void add_time(size_t index, const Result<double>& time_s, int calls, const std::string& how) {
    if (!time_s) return add_missing(kNames[index], time_s.error());
    add(index, *time_s / calls, "s", fmt::format("{}, GPU 0{}", how, on_gpu()));
  }

  void add(size_t index, double value, const char* unit, std::string how) {
    Limit limit;
    limit.name = kNames[index];
    limit.value = value;
    limit.unit = unit;
    limit.how = std::move(how);
    found_.limits.push_back(std::move(limit));
  }

  Result<cuda::Function> empty_kernel() const {
    cuda::Return result = cuda::kSuccess;
    for (const Target& target : kTargets) {
      const std::string text = fmt::format(
          ".version {}\n.target {}\n.address_size 64\n.visible .entry empty()\n{{\nret;\n}}\n",
          target.version, target.name);
      cuda::Module module = nullptr;
      cuda::Function function = nullptr;
      result = cuda_.load_module(&module, text.c_str());
      if (result != cuda::kSuccess) continue;
      TS_CHECK_OK(check(cuda_.find_function(&function, module, "empty")));
      return function;
    }
    return check(result).error();
  }

  const cuda::Library& cuda_;
  const int64_t each_ns_;
  MachineLimits& found_;
  std::string name_;
};

}  // namespace

void measure_nvidia_limits(int64_t each_ns, int64_t buffer_bytes, MachineLimits& found) {
  const auto library = cuda::library();
  Status ready;
  if (!library) ready = library.error();
  if (ready) {
    NvidiaLimits limits(**library, each_ns, found);
    ready = limits.open();
    if (ready) {
      limits.measure_copies(buffer_bytes);
      limits.measure_launches();
      return;
    }
  }
  for (const char* name : kNames) {
    found.missing.push_back({name, ready.error().message(),
                             "on a machine with an NVIDIA GPU: install NVIDIA's driver (Debian: "
                             "apt install nvidia-driver "
                             "libcuda1), or give the container --gpus all"});
  }
}

}  // namespace trainscope
