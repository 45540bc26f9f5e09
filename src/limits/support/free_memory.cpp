#include "limits/support/free_memory.h"

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"
#include "kernel/cgroup_limits.h"

namespace trainscope {

namespace {

int64_t available_bytes() {
  const auto text = read_file("/proc/meminfo", size_t{64} << 10);
  if (!text) return 0;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = fields(line);
    if (words.size() < 2 || words[0] != "MemAvailable:") continue;
    return parse_integer(words[1]).value_or(0) * 1024;
  }
  return 0;
}

}  // namespace

FreeMemory free_memory() {
  const int64_t free = available_bytes();
  // How much of the limit is in use is not read: half of it may be.
  const int64_t allowed = read_cgroup_limits("", 0).memory_bytes.value_or(2 * free) / 2;
  return {std::min(free, allowed) / 8, allowed < free};
}

}  // namespace trainscope
