#include "limits/support/team.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "kernel/cgroup_limits.h"

namespace trainscope {

namespace {

constexpr int64_t kLeastRounds = 3;

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

std::set<int64_t> allowed_processors() {
  // More than the kernels of today support; a smaller set fails on machines with more.
  constexpr int kMost = 1 << 16;
  std::set<int64_t> allowed;
  cpu_set_t* mask = CPU_ALLOC(kMost);
  if (mask == nullptr) return allowed;
  const size_t bytes = CPU_ALLOC_SIZE(kMost);
  CPU_ZERO_S(bytes, mask);
  if (::sched_getaffinity(0, bytes, mask) == 0) {
    for (int cpu = 0; cpu < kMost; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, mask)) allowed.insert(cpu);
    }
  }
  CPU_FREE(mask);
  return allowed;
}

size_t usable_processors() {
  const size_t allowed = std::max<size_t>(1, allowed_processors().size());
  const auto quota = read_cgroup_limits("", 0).cpus;
  if (!quota) return allowed;
  return std::min(allowed, static_cast<size_t>(std::max(1.0, std::floor(*quota))));
}

Status run_together(size_t threads, const std::function<void(size_t)>& work,
                    const std::function<void()>& own) {
  enum Start : int { kWait, kGo, kGiveUp };
  std::atomic<int> start{kWait};
  std::vector<std::thread> team;
  team.reserve(threads);
  Status started;
  try {
    for (size_t i = 0; i < threads; ++i) {
      team.emplace_back([&, i] {
        start.wait(kWait);
        if (start == kGo) work(i);
      });
    }
  } catch (const std::system_error& error) {
    started = Error::from_errno("cannot start " + counted(static_cast<int64_t>(threads), "thread"),
                                error.code().value());
  }
  start = started ? kGo : kGiveUp;
  start.notify_all();
  if (started) own();
  for (std::thread& thread : team) thread.join();
  return started;
}

Result<BestRound> best_round(size_t threads, int64_t time_ns,
                             const std::function<void(size_t)>& work) {
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
  TS_CHECK_OK(run_together(
      threads - 1, [&](size_t other) { run(other + 1); }, [&] { run(0); }));
  return best;
}

}  // namespace trainscope
