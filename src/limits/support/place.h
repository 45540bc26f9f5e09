// Where a folder is stored.
#pragma once

#include <string>

namespace trainscope {

struct StoragePlace {
  std::string folder;       // absolute, without symbolic links
  std::string mount_point;  // "" if it is unknown
  std::string file_system;  // ext4, nfs4, …
  std::string device;       // a whole disk, as in system.disk.io; "" if there is none
};
// "cciss/c0d0" of sysfs' "cciss!c0d0", as system.disk.io has it.
std::string disk_name(std::string sysfs_name);
StoragePlace storage_place(const std::string& folder);

}  // namespace trainscope
