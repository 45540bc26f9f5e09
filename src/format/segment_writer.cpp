#include "format/segment_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "format/frame.h"

namespace trainscope {

std::optional<int> segment_number(std::string_view name) {
  constexpr std::string_view kPrefix = "samples-", kSuffix = ".seg";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view digits = name.substr(
      kPrefix.size(), name.size() - std::min(name.size(), kPrefix.size() + kSuffix.size()));
  if (digits.size() < 4 || digits.size() > 9) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return static_cast<int>(parse_integer(digits).value_or(0));
}

Result<uint32_t> SegmentWriter::begin(uint32_t number) {
  for (;; ++number) {
    path_ = fmt::format("{}/samples-{:04}.seg", folder_, number);
    auto opened = open_file(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND);
    if (!opened && opened.error().error_number() == EEXIST) continue;
    if (!opened) return opened.error();
    fd_ = std::move(*opened);
    break;
  }
  good_bytes_ = synced_bytes_ = 0;
  if (Status status = append(file_header()); !status) {
    // A file without its header is useless: it is removed.
    ::unlink(path_.c_str());
    fd_.reset();
    return status.error();
  }
  return number;
}

Status SegmentWriter::append(std::string_view frames) {
  Status written = write_all(fd_.get(), frames);
  if (written) {
    good_bytes_ += frames.size();
    bytes_written_ += static_cast<int64_t>(frames.size());
    return {};
  }
  if (ftruncate(fd_.get(), static_cast<off_t>(good_bytes_)) != 0) fd_.reset();
  return std::move(written).with_context(path_);
}

Status SegmentWriter::append_tail(std::string_view frames, bool fresh) {
  const std::string path = folder_ + "/tail", new_path = path + ".new";
  std::string bytes;
  if (fresh || !tail_fd_) {
    TS_TRY(tail_fd_, open_file(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_APPEND));
    bytes = file_header();
  }
  const bool is_new = !bytes.empty();
  bytes += frames;
  const off_t end = ::lseek(tail_fd_.get(), 0, SEEK_END);
  if (Status written = write_all(tail_fd_.get(), bytes); !written) {
    // Part of it would have newer rows of some streams than of others. A tail that cannot be cut is
    // removed: the caller still has its rows.
    const bool is_cut = !is_new && end >= 0 && ::ftruncate(tail_fd_.get(), end) == 0;
    if (!is_cut) ::unlink((is_new ? new_path : path).c_str());
    tail_fd_.reset();
    return std::move(written).with_context(path);
  }
  bytes_written_ += static_cast<int64_t>(bytes.size());
  if (is_new && ::rename(new_path.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(new_path.c_str());
    tail_fd_.reset();
    return Error::from_errno("cannot rename " + new_path, error_number);
  }
  return {};
}

void SegmentWriter::abandon() {
  // What is left would be read before the same rows of the next segment.
  if (fd_) (void)!::ftruncate(fd_.get(), static_cast<off_t>(synced_bytes_));
  fd_.reset();
}

void SegmentWriter::leave() { fd_.reset(); }

bool SegmentWriter::vanished() const {
  struct stat there {};
  return fd_ && ::fstat(fd_.get(), &there) == 0 && there.st_nlink == 0;
}

}  // namespace trainscope
