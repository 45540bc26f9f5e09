#include "store/read/at_once.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace trainscope {

Status for_each_at_once(size_t count, const std::function<Status(size_t)>& task) {
  std::atomic<size_t> next = 0;
  const auto work = [&]() -> Status {
    for (size_t k = next++; k < count; k = next++) TS_CHECK_OK(task(k));
    return {};
  };
  const size_t threads = std::min<size_t>(count, std::thread::hardware_concurrency());
  std::vector<std::future<Status>> others;
  // Where no thread can be started, `deferred` is chosen: then get() does the work.
  for (size_t i = 1; i < threads; ++i) {
    others.push_back(std::async(std::launch::async | std::launch::deferred, work));
  }
  Status done = work();
  for (std::future<Status>& other : others) {
    const Status found = other.get();
    if (done && !found) done = found;
  }
  return done;
}

}  // namespace trainscope
