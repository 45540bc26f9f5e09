// /proc/PID/cgroup, mountinfo and limit files: three texts with zero bytes between them.
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "kernel/cgroup_limits.h"

using trainscope::parse_mountinfo;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto parts = trainscope::split(all, '\0');
  const std::string_view mountinfo = parts.size() > 1 ? parts[1] : parts[0];
  for (const char* controller : {"cpu", "memory"}) {
    const auto place = trainscope::place_cgroup(parts[0], parse_mountinfo(mountinfo), controller);
    if (place) CHECK(!place->folders.empty());
  }
  if (const auto cpus = trainscope::parse_cpu_max(parts.back())) CHECK(*cpus > 0);
  if (const auto bytes = trainscope::parse_memory_limit(parts.back())) CHECK(*bytes >= 0);
  return 0;
}
