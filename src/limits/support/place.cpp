#include "limits/support/place.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <memory>

#include "base/fd.h"
#include "kernel/mounts.h"

namespace trainscope {

namespace {

// "" if it cannot be resolved.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> found(::realpath(path.c_str(), nullptr), ::free);
  return found ? found.get() : "";
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The disk of a partition; "" for a file system without a block device.
std::string whole_disk(dev_t device) {
  std::string path = real_path(fmt::format("/sys/dev/block/{}:{}", major(device), minor(device)));
  if (path.empty()) return "";
  if (exists(path + "/partition")) path.resize(path.rfind('/'));
  return disk_name(last_part(path));
}

}  // namespace

std::string disk_name(std::string sysfs_name) {
  std::replace(sysfs_name.begin(), sysfs_name.end(), '!', '/');
  return sysfs_name;
}

StoragePlace storage_place(const std::string& folder) {
  StoragePlace place;
  place.folder = real_path(folder);
  struct stat info {};
  if (place.folder.empty() || ::stat(place.folder.c_str(), &info) != 0) return place;
  place.device = whole_disk(info.st_dev);
  const auto text = read_file("/proc/self/mountinfo", size_t{4} << 20);
  if (!text) return place;
  const std::vector<Mount> mounts = parse_mountinfo(*text);
  if (const Mount* mount = mount_of(mounts, place.folder)) {
    place.mount_point = mount->point;
    place.file_system = mount->type;
    // btrfs gives each subvolume its own number, and has its device in the list of mounts.
    struct stat source {};
    if (place.device.empty() && mount->source.starts_with("/dev/") &&
        ::stat(mount->source.c_str(), &source) == 0 && S_ISBLK(source.st_mode)) {
      place.device = whole_disk(source.st_rdev);
    }
  }
  return place;
}

}  // namespace trainscope
