#include "kernel/schedstat.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "kernel/proc_file.h"

namespace trainscope {

namespace {

// More than three years.
constexpr int64_t kMostThreadNs = 100'000'000'000'000'000, kMostDelayTicks = kMostThreadNs / 100;
// Words between the name and field 42.
constexpr int kFieldsBeforeDelay = 39;

}  // namespace

bool parse_schedstat(std::string_view text, ThreadTimes& times) {
  Scanner scan(text);
  ThreadTimes read;
  int64_t timeslices = 0;
  if (!scan.number(read.run_ns) || !scan.number(read.wait_ns) || !scan.number(timeslices)) {
    return false;
  }
  if (std::max(read.run_ns, read.wait_ns) > kMostThreadNs) return false;
  times = read;
  return true;
}

int64_t thread_wait_ns() {
  const UniqueFd fd(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t size = fd ? ::read(fd.get(), text, sizeof text) : -1;
  ThreadTimes times;
  return size > 0 && parse_schedstat({text, static_cast<size_t>(size)}, times) ? times.wait_ns : 0;
}

std::optional<int64_t> block_delay_ticks(std::string_view stat_text) {
  const size_t close = stat_text.rfind(')');
  if (close == std::string_view::npos) return std::nullopt;
  Scanner scan(stat_text.substr(close + 1));
  for (int i = 0; i < kFieldsBeforeDelay; ++i) scan.skip_word();
  int64_t ticks = 0;
  if (!scan.number(ticks) || ticks > kMostDelayTicks) return std::nullopt;
  return ticks;
}

std::string_view thread_name(std::string_view stat_text) {
  const size_t open = stat_text.find('('), close = stat_text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return stat_text.substr(open + 1, close - open - 1);
}

}  // namespace trainscope
