// System calls that a signal interrupts: SIGCHLD of an orphan of the job ends poll, read or waitpid
// early, with EINTR and nothing done.
//
// Guarantees: a call made through here was not cut short by a signal; a timeout is the whole time,
// however many signals arrive. Not for the supervisor's main loop, which wants to be woken.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

#include "base/clock.h"

namespace trainscope {

// The result of the call, made again for as long as signals interrupt it.
template <typename Call>
auto retry_interrupted(Call&& call) -> decltype(call()) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// poll(2) for at most `timeout_ns`; negative: without a limit.
inline int poll_whole(std::span<pollfd> polls, int64_t timeout_ns) {
  const int64_t until = monotonic_ns() + timeout_ns;
  return retry_interrupted([&] {
    const timespec left = to_timespec(std::max<int64_t>(0, until - monotonic_ns()));
    return ::ppoll(polls.data(), polls.size(), timeout_ns < 0 ? nullptr : &left, nullptr);
  });
}

}  // namespace trainscope
