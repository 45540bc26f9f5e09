// filesystem: space of the file systems of the run folder, the working directory and the data.
//
// Source: statfs, and /proc/self/mountinfo for the names. Units: bytes. Permission: to reach the
// folder. Cost: 1 µs on a local disk; a dead network mount hangs it, so it has its own thread, and
// open() (which follows symbolic links) belongs on that thread too. Caveats: free is the space that
// a user may still write (without root's reserve), so used + free is less than the size; quotas,
// and space shared with other subvolumes or overlays, are not visible.
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/missing.h"
#include "kernel/mounts.h"
#include "kernel/proc_file.h"

namespace trainscope::filesystem_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"system.filesystem.usage", "By", Kind::gauge, "mountpoint, state",
     "Used and free space of the file systems of the run folder, working directory and data"},
};

// Without symbolic links; as given when it is not there.
std::string resolve(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result = real;
  std::free(real);
  return result;
}

// In a chroot whose root is not a mount the table lacks it: the highest folder on the same device
// is used instead.
Mount top_of_device(const std::string& root, const std::string& folder) {
  struct stat here {};
  if (::stat((root + folder).c_str(), &here) != 0) here = {};
  Mount mount;
  mount.point = folder;
  mount.device = "device " + std::to_string(here.st_dev);
  while (mount.point.size() > 1) {
    const std::string above = mount.point.substr(0, std::max<size_t>(1, mount.point.rfind('/')));
    struct stat there {};
    if (::stat((root + above).c_str(), &there) != 0 || there.st_dev != here.st_dev) break;
    mount.point = above;
  }
  return mount;
}

class FilesystemSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    paths_.clear();
    const std::string path = "/proc/self/mountinfo";
    const auto text = read_file(context.root + path);
    if (!text) return all_missing(kMetrics, read_error_text(path, text.error()), kMountProc);
    const std::vector<Mount> mounts = parse_mountinfo(*text);
    Opened opened;
    std::vector<std::string> seen;
    std::vector<std::string> folders = {context.run_folder, context.working_directory};
    folders.insert(folders.end(), context.data.begin(), context.data.end());
    for (const std::string& folder : folders) {
      if (folder.empty()) continue;
      const std::string inside = inside_root(context.root, folder);
      const Mount* listed = mount_of(mounts, inside);
      const Mount mount = listed != nullptr ? *listed : top_of_device(context.root, inside);
      if (std::find(seen.begin(), seen.end(), mount.device) != seen.end()) continue;
      seen.push_back(mount.device);
      paths_.push_back(context.root + inside);
      for (const char* state : {"used", "free"}) {
        opened.columns.push_back({"system.filesystem.usage",
                                  {{"mountpoint", label_value(mount.point)}, {"state", state}},
                                  {}});
      }
    }
    if (paths_.empty()) {
      return all_missing(kMetrics, "neither a run folder nor a working directory exists here", "");
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    for (size_t i = 0; i < paths_.size(); ++i) {
      struct statfs room {};
      const bool known = ::statfs(paths_[i].c_str(), &room) == 0 && room.f_blocks > 0;
      const auto unit = static_cast<uint64_t>(room.f_frsize > 0 ? room.f_frsize : room.f_bsize);
      const auto bytes = [&](uint64_t blocks) {
        return known ? static_cast<int64_t>(blocks * unit) : kAbsent;
      };
      values[2 * i] = bytes(room.f_blocks - room.f_bfree);
      values[2 * i + 1] = bytes(room.f_bavail);
    }
    return Sampled::ok;
  }

 private:
  static std::string inside_root(const std::string& root, const std::string& folder) {
    const std::string real = resolve(root + folder);
    const std::string real_root = root.empty() ? "" : resolve(root);
    return real.starts_with(real_root) && real.size() > real_root.size()
               ? real.substr(real_root.size())
               : folder;
  }

  std::vector<std::string> paths_;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "filesystem",
    .summary = "space of the file systems of the run folder, working directory and data",
    .needs = "/proc/self/mountinfo",
    .scope = Scope::machine,
    .pace = Pace::thread,
    .period_ns = 10 * kNsPerSecond,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<FilesystemSource>()); },
};

}  // namespace trainscope::filesystem_collector
