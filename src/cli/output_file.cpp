#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace trainscope {

namespace {

// The file to write and, when an old one is replaced, the name it gets at the end.
struct OutputTarget {
  UniqueFd fd;
  std::string path, rename_to;
  bool is_created = true;
};

Result<OutputTarget> open_target(const std::string& path, bool force) {
  struct stat info {};
  const bool there = ::lstat(path.c_str(), &info) == 0;
  if (there && !force) return output_exists(path);
  OutputTarget target;
  target.path = path;
  if (there && S_ISREG(info.st_mode)) {
    target.rename_to = path;
    target.path = neighbour_name(path);
  } else if (there) {
    target.is_created = false;  // a device, a pipe or a link
  }
  const int mode = target.is_created ? O_CREAT | O_EXCL : O_TRUNC;
  TS_TRY(target.fd, open_file(target.path, O_WRONLY | mode, 0666));
  return target;
}

}  // namespace

Error output_exists(const std::string& path) {
  return Error(fmt::format("cannot write {}: it already exists; use --force to overwrite it", path),
               EEXIST);
}

Status write_output_file(const std::string& path, bool force,
                         const std::function<Status(const OutputSink&)>& write) {
  TS_TRY(const OutputTarget target, open_target(path, force));
  Status written = write([&](std::string_view bytes) {
    return write_all(target.fd.get(), bytes).with_context(target.path);
  });
  if (written && !target.rename_to.empty() &&
      ::rename(target.path.c_str(), target.rename_to.c_str()) != 0) {
    written = Error::from_errno("cannot rename " + target.path, errno);
  }
  // Half a file would look like a whole one.
  if (!written && target.is_created) ::unlink(target.path.c_str());
  return written;
}

}  // namespace trainscope
