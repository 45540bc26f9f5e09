#include "format/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "format/segment_writer.h"

namespace trainscope {

namespace {

bool is_unsupported(int error) {
  return error == EINVAL || error == EROFS || error == ENOTSUP || error == ENOSYS;
}

Status outcome(int returned, const std::string& path) {
  if (returned == 0 || is_unsupported(errno)) return {};
  return Error::from_errno("cannot sync " + path, errno);
}

Status sync_whole(const std::string& path, int flags) {
  TS_TRY(const UniqueFd fd, open_file(path, flags));
  int returned = -1;
  do {
    returned = ::fsync(fd.get());
  } while (returned != 0 && errno == EINTR);
  return outcome(returned, path);
}

}  // namespace

Status sync_data(int fd, const std::string& path) {
  int returned = -1;
  do {
    returned = ::fdatasync(fd);
  } while (returned != 0 && errno == EINTR);
  return outcome(returned, path);
}

// O_NONBLOCK: a FIFO of that name must not stop us.
Status sync_file(const std::string& path) {
  return sync_whole(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
}

Status sync_folder(const std::string& path) { return sync_whole(path, O_RDONLY | O_DIRECTORY); }

Status settle_run(const std::string& run_path, bool is_sealed) {
  TS_TRY(const std::vector<std::string> names, list_folder(run_path));
  for (const std::string& name : names) {
    if (name == "manifest.json" || segment_number(name)) {
      TS_CHECK_OK(sync_file(run_path + "/" + name));
    }
  }
  TS_CHECK_OK(sync_folder(run_path));
  if (!is_sealed) return {};
  ::unlink((run_path + "/tail").c_str());
  ::unlink((run_path + "/tail.new").c_str());
  return {};
}

}  // namespace trainscope
