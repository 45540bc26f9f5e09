// memory: how fast all processors together read and write memory.
//
// Measured: the triad of STREAM, a = b + 3 c, over three arrays that no cache can hold: each is
// four times the last-level caches if an eighth of the free memory suffices for all three. Bytes
// are counted as STREAM does: two arrays read, one written; the lines that the processor reads
// before it writes them are not counted. Every thread touches its part first, so that its pages are
// near it.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "kernel/proc_file.h"
#include "limits/limits.h"
#include "limits/support/free_memory.h"
#include "limits/support/team.h"

namespace trainscope::memory_limits {

namespace {

using Pair = double __attribute__((vector_size(16)));

constexpr const char* kName = "memory.bandwidth";
constexpr int64_t kArrays = 3;
constexpr int64_t kLeastArrayBytes = int64_t{64} << 20;
constexpr int64_t kTimesCache = 4;
constexpr int64_t kGrain = 4096;  // bytes; parts of threads begin at pages

// Pages of memory without anything in them.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes) {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = memory == MAP_FAILED ? nullptr : static_cast<Pair*>(memory);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
  }
  Pair* get() const { return memory_; }

 private:
  size_t bytes_;
  Pair* memory_ = nullptr;
};

void triad(Pair* __restrict a, const Pair* __restrict b, const Pair* __restrict c, size_t from,
           size_t to) {
  const Pair factor = {3, 3};
  for (size_t i = from; i < to; ++i) a[i] = b[i] + factor * c[i];
}

// The last-level caches of these processors together; 0 if the kernel does not report them.
int64_t last_level_cache_bytes(const std::set<int64_t>& processors) {
  const std::string folder = "/sys/devices/system/cpu";
  std::set<std::string> seen;
  int64_t sum = 0;
  for (const int64_t processor : processors) {
    const std::string caches = fmt::format("{}/cpu{}/cache/", folder, processor);
    std::string last;
    for (const std::string& index : names_in(caches)) {
      if (index.starts_with("index")) last = caches + index;
    }
    // Processors that share a cache list the same ones.
    const std::string size = line_or_empty(last + "/size");
    if (size.empty() || !seen.insert(line_or_empty(last + "/shared_cpu_list")).second) continue;
    const int64_t unit = size.back() == 'M' ? 1 << 20 : 1 << 10;
    sum += unit * parse_integer(std::string_view(size).substr(0, size.size() - 1)).value_or(0);
  }
  return sum;
}

// The first round of each thread only touches its part, which takes longer than any other round.
Result<BestRound> time_triad(const Buffer& a, const Buffer& b, const Buffer& c, size_t count,
                             size_t threads, int64_t time_ns) {
  std::vector<char> touched(threads);
  return best_round(threads, time_ns, [&](size_t thread) {
    const size_t from = count * thread / threads, to = count * (thread + 1) / threads;
    if (std::exchange(touched[thread], 1) != 0) {
      triad(a.get(), b.get(), c.get(), from, to);
      return;
    }
    std::fill(a.get() + from, a.get() + to, Pair{});
    std::fill(b.get() + from, b.get() + to, Pair{1, 1});
    std::fill(c.get() + from, c.get() + to, Pair{2, 2});
  });
}

Status measure(const MeasureOptions& options, MachineLimits& found) {
  if (options.progress) options.progress("memory");
  const int64_t cache = last_level_cache_bytes(allowed_processors());
  const FreeMemory free = free_memory();
  const int64_t most = free.buffer_bytes / kArrays;
  const int64_t array =
      std::min(most, std::max(kLeastArrayBytes, kTimesCache * cache)) / kGrain * kGrain;
  if (array < std::max(kGrain, cache)) {
    found.missing.push_back(
        {kName,
         fmt::format("{} are free for each of three arrays, less than the caches hold{}",
                     bytes_text(static_cast<double>(std::max<int64_t>(0, array))),
                     free.is_of_cgroup ? ": the cgroup limits memory" : ""),
         free.is_of_cgroup ? "raise the memory limit of the container or job (memory.max)"
                           : "end other programs and measure again"});
    return {};
  }
  const auto bytes = static_cast<size_t>(array);
  const Buffer a(bytes), b(bytes), c(bytes);
  if (a.get() == nullptr || b.get() == nullptr || c.get() == nullptr) {
    found.missing.push_back({kName, "the memory cannot be allocated", "raise ulimit -v"});
    return {};
  }
  const size_t threads = usable_processors();
  const auto best = time_triad(a, b, c, bytes / sizeof(Pair), threads, options.each_ns);
  if (!best) {
    found.missing.push_back({kName, best.error().message(), kMoreThreads});
    return {};
  }
  Limit limit;
  limit.name = kName;
  limit.value = static_cast<double>(kArrays * array) / best->seconds;
  limit.unit = "By/s";
  limit.how = fmt::format("{} thread{}, a = b + 3 c with arrays of {} MiB, best of {}", threads,
                          threads == 1 ? "" : "s", array >> 20, best->rounds);
  found.limits.push_back(std::move(limit));
  return {};
}

}  // namespace

extern const LimitKind entry;
const LimitKind entry = {
    .name = "memory",
    .summary = "bandwidth of memory, all processors together",
    .measure = measure,
};

}  // namespace trainscope::memory_limits
