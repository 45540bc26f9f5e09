#include "record/intake/output_dates.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "format/format.h"

namespace trainscope {

namespace {

constexpr size_t kMostUnwritten = 4096 * kOutputTimeBytes;

}  // namespace

void OutputDates::open(const std::string& path, bool is_new) {
  fd_.reset();
  if (is_new || path != path_) {
    unwritten_.clear();
    last_ns_.reset();
    is_emptied_ = !is_new;
  }
  path_ = path;
  open_file_again();
}

bool OutputDates::open_file_again() {
  // Non-blocking: whoever put a FIFO there must not hold the output up.
  const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (is_emptied_ ? 0 : O_TRUNC);
  auto opened = open_file(path_, flags);
  struct stat st {};
  if (!opened || ::fstat(opened->get(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  is_emptied_ = true;
  fd_ = std::move(*opened);
  records_ = static_cast<size_t>(st.st_size) / kOutputTimeBytes;  // half a record is overwritten
  return true;
}

void OutputDates::note(int64_t time_ns, size_t offset) {
  const size_t all = records_ + unwritten_.size() / kOutputTimeBytes;
  if (last_ns_ && all > 0 && time_ns - *last_ns_ < output_pause_ns(all - 1)) return;
  last_ns_ = time_ns;
  if (unwritten_.size() < kMostUnwritten) {
    append_output_time(unwritten_, time_ns, offset);
  } else if (unwritten_.size() == kMostUnwritten) {
    append_lost_output_times(unwritten_);
  }
  if (fd_ || open_file_again()) write();
}

void OutputDates::write() {
  const auto place = static_cast<off_t>(records_ * kOutputTimeBytes);
  const ssize_t n = retry_interrupted(
      [&] { return ::pwrite(fd_.get(), unwritten_.data(), unwritten_.size(), place); });
  if (n != static_cast<ssize_t>(unwritten_.size())) return;  // all of it again later
  records_ += unwritten_.size() / kOutputTimeBytes;
  unwritten_.clear();
}

}  // namespace trainscope
