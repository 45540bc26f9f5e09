#include "limits/support/team.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "kernel/cgroup_limits.h"

namespace trainscope {

namespace {

constexpr int64_t kLeastRounds = 3;

size_t processors_of_mask() {
  // More than the kernels of today support; a smaller set fails on machines with more.
  constexpr int kMost = 1 << 16;
  cpu_set_t* mask = CPU_ALLOC(kMost);
  if (mask == nullptr) return 1;
  const size_t bytes = CPU_ALLOC_SIZE(kMost);
  CPU_ZERO_S(bytes, mask);
  const bool is_known = ::sched_getaffinity(0, bytes, mask) == 0;
  const int count = is_known ? CPU_COUNT_S(bytes, mask) : 1;
  CPU_FREE(mask);
  return static_cast<size_t>(std::max(1, count));
}

// Times rounds: runs alone, when every thread has arrived at the barrier.
class RoundClock {
 public:
  RoundClock(BestRound& best, int64_t time_ns) : best_(best), end_ns_(monotonic_ns() + time_ns) {}

  // Begin and end of a round alternate.
  void tick() noexcept {
    const int64_t now = monotonic_ns();
    if (begin_ns_ == 0) {
      begin_ns_ = now;
      return;
    }
    best_.seconds = std::min(best_.seconds, to_seconds(now - begin_ns_));
    ++best_.rounds;
    begin_ns_ = 0;
    is_over_ = now >= end_ns_ && best_.rounds >= kLeastRounds;
  }
  bool is_over() const { return is_over_; }

 private:
  BestRound& best_;
  int64_t end_ns_, begin_ns_ = 0;
  bool is_over_ = false;  // written while every thread waits
};

}  // namespace

size_t usable_processors() {
  const size_t allowed = processors_of_mask();
  const auto quota = read_cgroup_limits("", 0).cpus;
  if (!quota) return allowed;
  return std::min(allowed, static_cast<size_t>(std::max(1.0, std::floor(*quota))));
}

void run_once(size_t threads, const std::function<void(size_t)>& work) {
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
}

BestRound best_round(size_t threads, int64_t time_ns, const std::function<void(size_t)>& work) {
  BestRound best{std::numeric_limits<double>::infinity(), 0};
  RoundClock clock(best, time_ns);
  std::barrier barrier(static_cast<std::ptrdiff_t>(threads), [&]() noexcept { clock.tick(); });
  const auto run = [&](size_t thread) {
    do {
      barrier.arrive_and_wait();
      work(thread);
      barrier.arrive_and_wait();
    } while (!clock.is_over());
  };
  run_once(threads, run);
  return best;
}

}  // namespace trainscope
