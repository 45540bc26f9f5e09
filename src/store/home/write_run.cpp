#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/clock.h"
#include "base/fd.h"
#include "format/format.h"
#include "store/read/run_id.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr std::string_view kUnfinished = ".import-";  // and the run's id
constexpr int64_t kAbandonedNs = 24 * 3600 * kNsPerSecond;

int64_t path_modified_ns(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * kNsPerSecond + info.st_mtim.tv_nsec;
}

// When something was last written to a folder or one of its files.
int64_t last_write_ns(const std::string& folder) {
  int64_t last = path_modified_ns(folder);
  const auto names = list_folder(folder);
  if (!names) return last;
  for (const std::string& name : *names)
    last = std::max(last, path_modified_ns(folder + "/" + name));
  return last;
}

// Removes what imports that were killed left behind: the folder that was being written and the
// empty one that reserves its id. An import on another host may be at work: its folder is not that
// old.
void remove_abandoned(const std::string& home) {
  const auto names = list_folder(home);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kUnfinished) || !is_run_id(name.substr(kUnfinished.size()))) continue;
    const std::string folder = home + "/" + name;
    if (realtime_ns() - last_write_ns(folder) < kAbandonedNs) continue;
    (void)remove_run(folder);
    ::rmdir((home + "/" + name.substr(kUnfinished.size())).c_str());  // fails if it is not empty
  }
}

}  // namespace

Result<WrittenRun> write_run(const std::string& home, const RunData& run) {
  // The empty folder reserves the id; it is not a run until the full folder replaces it.
  TS_TRY(const NewRun made, create_run(home));
  remove_abandoned(home);
  const std::string folder = home + "/" + std::string(kUnfinished) + made.id;
  Result<WrittenRun> written = write_run_folder(folder, made.id, run);
  if (written && ::rename(folder.c_str(), made.path.c_str()) != 0) {
    written = Error::from_errno("cannot rename " + folder, errno);
  }
  if (written) {
    written->path = made.path;
    return written;
  }
  (void)remove_run(folder);
  ::rmdir(made.path.c_str());
  return written;
}

}  // namespace trainscope
