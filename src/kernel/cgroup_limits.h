// The cgroup of a process, and the limits that apply there.
//
// v1, v2 and both at once (each controller is found separately). A limit is the smallest of the
// cgroup and of those above it, as far as they are mounted here: in a container with a cgroup
// namespace, cgroups above the container are not visible. Nothing is created, changed or moved.
// Limits: quota and memory.max only; CPU sets show in the affinity mask, memory.high only slows.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/mounts.h"
#include "kernel/proc_file.h"

namespace trainscope {

struct CgroupLimits {
  std::optional<double> cpus;
  std::optional<int64_t> memory_bytes;
  std::string version;  // v1, v2, hybrid (one controller each), none
  std::string path;     // of the process in memory's tree, in cpu's if that is the root
};

// pid 0: this process. `root` is the prefix of /proc and /sys.
CgroupLimits read_cgroup_limits(const std::string& root, pid_t pid);

// One controller's cgroup of a process.
struct CgroupPlace {
  bool v2 = false;
  std::string path;                  // as in /proc/PID/cgroup
  std::vector<std::string> folders;  // its own first, then those above it up to the mount point
};

// `cgroup_text`: /proc/PID/cgroup. Folders are without root.
std::optional<CgroupPlace> place_cgroup(std::string_view cgroup_text,
                                        const std::vector<Mount>& mounts,
                                        std::string_view controller);
// The same by reading the files; folders are with root.
std::optional<CgroupPlace> find_cgroup(const std::string& root, pid_t pid,
                                       std::string_view controller);

// Thousandths of a CPU in "150000 100000"; nothing for "max 100000" and malformed text.
std::optional<int64_t> parse_cpu_max(std::string_view text);
// The same from v1's two files; -1 means no limit.
std::optional<int64_t> milli_cpus(int64_t quota_us, int64_t period_us);
// Bytes; nothing for "max" and for v1's largest number, which means the same.
std::optional<int64_t> parse_memory_limit(std::string_view text);

enum class CgroupResource { cpu, memory };

// Keeps the limit files of a cgroup open.
class CgroupLimitReader {
 public:
  struct Limit {
    size_t level = 0;   // index into the place's folders
    int64_t value = 0;  // thousandths of a CPU, or bytes
  };
  void open(const CgroupPlace& place, CgroupResource resource);
  // The smallest limit now, of two equal ones the outer; nothing if there is none.
  std::optional<Limit> read();

 private:
  struct Level {
    size_t level = 0;
    ProcFile limit;   // cpu.max, memory.max, cpu.cfs_quota_us, memory.limit_in_bytes
    ProcFile period;  // cpu.cfs_period_us
  };
  std::optional<int64_t> read_level(Level& level) const;
  bool v2_ = false;
  CgroupResource resource_ = CgroupResource::cpu;
  std::vector<Level> levels_;
};

}  // namespace trainscope
