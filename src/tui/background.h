// Work that may take long, on its own thread: the newest answer, and how long it has been awaited.
//
// Guarantees: no call of this class waits for the work; another request is worked on as soon as the
// one before is done; without one, the work is repeated after a pause in which it takes at most a
// twentieth of the time. Limits: work that hangs is left behind with all that it uses.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace trainscope {

// An Answer has `is_final`: there is nothing to add to it.
template <typename Request, typename Answer>
class Background {
 public:
  // `wake_fd`, an eventfd that outlives the work, is signalled with each answer.
  Background(std::function<Answer(const Request&)> work, int64_t pause_ns,
             const std::shared_ptr<const int>& wake_fd)
      : shared_(std::make_shared<Shared>()) {
    shared_->work = std::move(work);
    shared_->pause_ns = pause_ns;
    shared_->wake_fd = wake_fd;
    // Signals are for the thread that waits for them.
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([shared = shared_] { serve(*shared); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Background() {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_over = true;
    shared_->changed.notify_all();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void ask(const Request& request) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->wanted == request) return;
    shared_->wanted = request;
    shared_->is_new = true;
    shared_->changed.notify_all();
  }

  // The newest answer, once.
  std::optional<Answer> take() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->answer, std::nullopt);
  }

  // For how long the work has been at it; 0: it is not.
  double busy_s() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->begun_ns == 0 ? 0 : to_seconds(monotonic_ns() - shared_->begun_ns);
  }

 private:
  static constexpr int64_t kPausePerCpu = 19;

  struct Shared {
    std::function<Answer(const Request&)> work;
    int64_t pause_ns = 0;
    std::shared_ptr<const int> wake_fd;
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::optional<Request> wanted;
    bool is_new = false, is_over = false;
    std::optional<Answer> answer;
    int64_t begun_ns = 0;
  };

  static void serve(Shared& shared) {
    std::unique_lock lock(shared.mutex);
    bool is_final = false;
    auto due = std::chrono::steady_clock::now();
    for (;;) {
      const auto is_wanted = [&] { return shared.is_over || shared.is_new; };
      if (is_final || !shared.wanted) {
        shared.changed.wait(lock, is_wanted);
      } else {
        shared.changed.wait_until(lock, due, is_wanted);
      }
      if (shared.is_over) return;
      shared.is_new = false;
      const Request request = *shared.wanted;
      shared.begun_ns = monotonic_ns();
      lock.unlock();
      const int64_t cpu_ns = thread_cpu_ns();
      std::optional<Answer> answer = attempt(shared, request);
      const int64_t pause_ns = std::max(shared.pause_ns, kPausePerCpu * (thread_cpu_ns() - cpu_ns));
      lock.lock();
      shared.begun_ns = 0;
      due = std::chrono::steady_clock::now() + std::chrono::nanoseconds(pause_ns);
      is_final = answer && answer->is_final;
      if (answer) shared.answer = std::move(answer);
      ::eventfd_write(*shared.wake_fd, 1);
    }
  }

  // Without memory there is no answer now; later there may be one.
  static std::optional<Answer> attempt(const Shared& shared, const Request& request) {
    try {
      return shared.work(request);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace trainscope
