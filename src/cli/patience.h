// Work that may hang with a file system: the user learns what is waited for.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>

namespace trainscope {

// The result of work on its own thread. `notice` is called once if it takes longer than `patience`;
// the work is awaited all the same, and Ctrl-C ends the process meanwhile.
template <typename Answer>
Answer work_patiently(std::function<Answer()> work, std::chrono::milliseconds patience,
                      const std::function<void()>& notice) {
  std::packaged_task<Answer()> task(std::move(work));
  std::future<Answer> answer = task.get_future();
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for this thread
  std::thread(std::move(task)).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (answer.wait_for(patience) == std::future_status::timeout) notice();
  return answer.get();
}

}  // namespace trainscope
