#include "collect/support/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace trainscope {

Status ProcFile::open(const std::string& path, size_t capacity) {
  TS_TRY(fd_, open_file(path, O_RDONLY));
  buffer_.resize(capacity);
  return {};
}

std::string_view ProcFile::read() {
  if (!fd_) return {};
  ssize_t n = 0;
  do {
    n = ::pread(fd_.get(), buffer_.data(), buffer_.size(), 0);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return {};
  return {buffer_.data(), static_cast<size_t>(n)};
}

std::string why_unreadable(const std::string& path, const Error& error) {
  switch (error.error_number()) {
    case ENOENT:
    case ENOTDIR:
      return "there is no " + path + " here";
    case EACCES:
    case EPERM:
      return "no permission to read " + path;
    default:
      return error.message();
  }
}

}  // namespace trainscope
