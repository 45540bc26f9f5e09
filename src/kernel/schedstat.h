// What the scheduler reports about one thread, and two fields of /proc/PID/stat that few need.
//
// Guarantees: no allocation; numbers that no thread can have reached are refused, so that sums of
// some dozens of them fit into 64 bits. Limits: of a thread that is running now, `run_ns` is up to
// a tick of the kernel (10 ms) old; a wait for a CPU is added when it is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainscope {

struct ThreadTimes {
  int64_t run_ns = 0;   // on a CPU
  int64_t wait_ns = 0;  // ready to run, without a CPU
  bool operator==(const ThreadTimes&) const = default;
};

// /proc/PID/task/TID/schedstat: "run_ns wait_ns timeslices". False, and `times` unchanged, if the
// text is not of that form.
bool parse_schedstat(std::string_view text, ThreadTimes& times);

// For how long the calling thread was ready to run without a CPU, so far; 0 if the kernel does not
// tell.
int64_t thread_wait_ns();

// Field 42 of a stat: the time that the thread waited for block devices, in clock ticks; nothing if
// the text ends before it.
std::optional<int64_t> block_delay_ticks(std::string_view stat_text);

// Field 2 of a stat: the name of the thread; empty if there is none.
std::string_view thread_name(std::string_view stat_text);

}  // namespace trainscope
