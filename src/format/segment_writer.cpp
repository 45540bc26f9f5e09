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

Result<UniqueFd> StorageCalls::open(const std::string& path, int flags) {
  return open_file(path, flags);
}

Status StorageCalls::write(int fd, std::string_view bytes) { return write_all(fd, bytes); }

Status StorageCalls::truncate(int fd, size_t bytes) {
  if (::ftruncate(fd, static_cast<off_t>(bytes)) == 0) return {};
  return Error::from_errno("cannot truncate", errno);
}

Status StorageCalls::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return Error::from_errno("cannot rename " + from, errno);
}

Result<uint32_t> SegmentWriter::begin(
    uint32_t number, const std::function<std::string(uint32_t number)>& first_frames) {
  for (;; ++number) {
    path_ = fmt::format("{}/samples-{:04}.seg", folder_, number);
    auto opened = calls_->open(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND);
    if (!opened && opened.error().error_number() == EEXIST) continue;
    if (!opened) return opened.error();
    fd_ = std::move(*opened);
    break;
  }
  good_bytes_ = synced_bytes_ = 0;
  if (Status status = append(file_header() + first_frames(number)); !status) {
    // Frames after it could not be read without these: the file is removed.
    ::unlink(path_.c_str());
    fd_.reset();
    return status.error();
  }
  return number;
}

Status SegmentWriter::append(std::string_view frames) {
  Status written = calls_->write(fd_.get(), frames);
  if (written) {
    good_bytes_ += frames.size();
    bytes_written_ += static_cast<int64_t>(frames.size());
    return {};
  }
  if (!calls_->truncate(fd_.get(), good_bytes_)) fd_.reset();
  return std::move(written).with_context(path_);
}

Status SegmentWriter::append_tail(std::string_view frames, bool fresh) {
  const std::string path = folder_ + "/tail", new_path = path + ".new";
  std::string bytes;
  if (fresh || !tail_fd_) {
    TS_TRY(tail_fd_, calls_->open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_APPEND));
    bytes = file_header();
  }
  const bool is_new = !bytes.empty();
  bytes += frames;
  const off_t end = ::lseek(tail_fd_.get(), 0, SEEK_END);
  if (Status written = calls_->write(tail_fd_.get(), bytes); !written) {
    // Part of it would have newer rows of some streams than of others. A tail that cannot be cut is
    // removed: the caller still has its rows.
    const bool is_cut =
        !is_new && end >= 0 && calls_->truncate(tail_fd_.get(), static_cast<size_t>(end));
    if (!is_cut) ::unlink((is_new ? new_path : path).c_str());
    tail_fd_.reset();
    return std::move(written).with_context(path);
  }
  bytes_written_ += static_cast<int64_t>(bytes.size());
  if (!is_new) return {};
  Status renamed = calls_->rename(new_path, path);
  if (!renamed) {
    ::unlink(new_path.c_str());
    tail_fd_.reset();
  }
  return renamed;
}

void SegmentWriter::abandon() {
  if (!fd_) return;
  abandoned_fd_ = std::move(fd_);
  abandoned_synced_bytes_ = synced_bytes_;
}

void SegmentWriter::cut_abandoned() {
  // What is left would be read before the same rows of the next segment.
  if (abandoned_fd_) (void)calls_->truncate(abandoned_fd_.get(), abandoned_synced_bytes_);
  abandoned_fd_.reset();
}

void SegmentWriter::leave() { fd_.reset(); }

bool SegmentWriter::vanished() const {
  struct stat there {};
  return fd_ && ::fstat(fd_.get(), &there) == 0 && there.st_nlink == 0;
}

}  // namespace trainscope
