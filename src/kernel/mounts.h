// /proc/self/mountinfo as structs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

struct Mount {
  std::string device;   // "254:0", as st_dev (but for btrfs, which gives each subvolume its own)
  std::string root;     // which folder of the file system is shown there
  std::string point;    // mount point
  std::string type;     // ext4, cgroup2, …
  std::string source;   // "/dev/sda1", "server:/export", …
  std::string options;  // of the file system: for cgroup v1 the names of its controllers
};

// In the kernel's order; lines that are not understood are left out.
std::vector<Mount> parse_mountinfo(std::string_view text);

// The mount of an absolute path without symbolic links; null if there is none. Of two on one point
// the later hides the earlier.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path);

// True when `path` is `folder` or below it, by whole components.
bool is_below(std::string_view path, std::string_view folder);

// True for file systems whose files are behind a network or another program: a call on them may
// hang.
bool may_hang(const Mount& mount);

// True if the path, followed through symbolic links as far as that is safe, is on such a mount.
// Nothing on it is accessed. `root` is the prefix of examined paths.
bool leads_to_hanging_mount(const std::vector<Mount>& mounts, const std::string& root,
                            const std::string& path);

}  // namespace trainscope
