#include "kernel/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace trainscope {

Status ProcFile::open(const std::string& path, size_t capacity) {
  TS_TRY(fd_, open_file(path, O_RDONLY));
  buffer_.resize(capacity);
  return {};
}

std::string_view ProcFile::whole_lines(size_t size) const {
  const std::string_view text(buffer_.data(), size);
  if (size < buffer_.size()) return text;
  const size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? std::string_view() : text.substr(0, newline + 1);
}

std::string_view ProcFile::read() {
  if (!fd_) return {};
  ssize_t n = 0;
  do {
    n = ::pread(fd_.get(), buffer_.data(), buffer_.size(), 0);
  } while (n < 0 && errno == EINTR);
  return n <= 0 ? std::string_view() : whole_lines(static_cast<size_t>(n));
}

std::string_view ProcFile::read_all() {
  if (!fd_) return {};
  size_t size = 0;
  while (size < buffer_.size()) {
    const ssize_t n =
        ::pread(fd_.get(), buffer_.data() + size, buffer_.size() - size, static_cast<off_t>(size));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {};
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  return whole_lines(size);
}

bool ProcFile::read_number(int64_t& value) { return Scanner(read()).signed_number(value); }

std::optional<int64_t> resident_pages(ProcFile& statm) {
  Scanner scan(statm.read());
  int64_t pages = 0;
  scan.skip_word();
  return scan.number(pages) ? std::optional(pages) : std::nullopt;
}

std::string line_or_empty(const std::string& path) {
  auto line = read_line(path);
  return line ? std::move(*line) : std::string();
}

std::string read_error_text(const std::string& path, const Error& error) {
  switch (error.error_number()) {
    case ENOENT:
    case ENOTDIR:
      return path + " does not exist";
    case EACCES:
    case EPERM:
      return "no permission to read " + path;
    default:
      return error.message();
  }
}

}  // namespace trainscope
