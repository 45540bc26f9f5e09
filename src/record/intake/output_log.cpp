#include "record/intake/output_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "format/format.h"

namespace trainscope {

namespace {

constexpr size_t kPartBytes = size_t{16} << 20;
constexpr size_t kReadBytes = 65536;
constexpr int kLogReadsAtOnce = 16;

constexpr const char* kOlderPart = "output.1.log";
constexpr const char* kNewestPart = "output.2.log";

const char* part_name(bool is_first) { return is_first ? "output.log" : kNewestPart; }

}  // namespace

OutputLog::OutputLog(std::string run_folder, int pipe_fd, const std::vector<int>& followed,
                     Shared& shared, OutputObserver observer)
    : folder_(std::move(run_folder)),
      observer_(std::move(observer)),
      pipe_fd_(pipe_fd),
      shared_(&shared) {
  shared.output_dropped += shared.output_unkept.exchange(0);  // by a recorder that died
  for (size_t i = 0; i < std::min(followed.size(), kMaxChannels); ++i) {
    const int fd = followed[i];
    // A second open file of the same file: reading it does not move the job's position.
    auto opened = open_file(fmt::format("/proc/self/fd/{}", fd), O_RDONLY | O_NONBLOCK);
    if (!opened) continue;
    SharedFollowed& at = shared.followed[i];
    if (at.searched < 0) {
      struct stat st {};
      ::fstat(opened->get(), &st);
      const bool appends = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
      const off_t position = ::lseek(fd, 0, SEEK_CUR);
      at.logged = appends || position < 0 ? st.st_size : position;
      at.searched = at.logged.load();
    }
    followed_.push_back({std::move(*opened), &at, i + 1});
  }
}

std::vector<int> OutputLog::files() const {
  std::vector<int> all;
  for (const Followed& file : followed_) all.push_back(file.fd.get());
  return all;
}

OutputLog::Taken OutputLog::search() {
  Taken taken;
  const int64_t now = monotonic_ns();
  search_pipe(now, taken);
  for (Followed& file : followed_) search_file(file, now, taken);
  searched_ns_ = now;
  return taken;
}

void OutputLog::search_pipe(int64_t time_ns, Taken& taken) {
  std::array<char, kReadBytes> bytes;  // NOLINT: filled by read
  for (int i = 0; i < kLogReadsAtOnce; ++i) {
    const ssize_t n = ::read(pipe_fd_, bytes.data(), bytes.size());
    if (n <= 0) return;
    const std::string_view text(bytes.data(), static_cast<size_t>(n));
    shared_->output_unkept += n;
    observer_(0, text, time_ns);
    waiting_ += text;
    taken.bytes += n;
  }
  taken.more = true;
}

// The searched and stored positions are updated each time. Bytes that a dead recorder had searched
// already are not searched again, or its steps would count twice.
void OutputLog::search_file(Followed& file, int64_t time_ns, Taken& taken) {
  struct stat st {};
  SharedFollowed& at = *file.at;
  if (::fstat(file.fd.get(), &st) == 0) {
    if (st.st_size < at.searched) at.write_size = at.searched = at.logged = 0;  // truncated
    if (st.st_size == at.searched) return;
  }
  std::array<char, kReadBytes> bytes;  // NOLINT: filled by pread
  for (int i = 0; i < kLogReadsAtOnce; ++i) {
    const ssize_t n = ::pread(file.fd.get(), bytes.data(), bytes.size(), at.searched);
    if (n <= 0) return;
    observer_(file.stream, {bytes.data(), static_cast<size_t>(n)}, time_ns);
    at.searched += n;
    taken.bytes += n;
  }
  taken.more = true;
}

int64_t OutputLog::keep_searched() {
  int64_t lost = 0;
  for (const Followed& file : followed_) settle_write(*file.at);
  for (size_t begin = 0; begin < waiting_.size(); begin += kReadBytes) {
    const std::string_view part = std::string_view(waiting_).substr(begin, kReadBytes);
    lost += keep(part, nullptr);
    shared_->output_unkept -= static_cast<int64_t>(part.size());
  }
  if (waiting_.capacity() > kReadBytes) waiting_ = {};  // few jobs print so much at once
  waiting_.clear();
  for (Followed& file : followed_) lost += keep_file(file);
  return lost;
}

int64_t OutputLog::keep_file(Followed& file) {
  int64_t lost = 0;
  SharedFollowed& at = *file.at;
  std::array<char, kReadBytes> bytes;  // NOLINT: filled by pread
  while (at.logged < at.searched) {
    const auto size = std::min<int64_t>(kReadBytes, at.searched - at.logged);
    const ssize_t n =
        ::pread(file.fd.get(), bytes.data(), static_cast<size_t>(size), at.logged.load());
    if (n <= 0) return lost;  // truncated in between
    const int64_t next = at.logged + n;
    lost += keep({bytes.data(), static_cast<size_t>(n)}, &at);
    at.logged = next;
    at.write_size = 0;
  }
  return lost;
}

void OutputLog::settle_write(SharedFollowed& at) const {
  if (at.write_size == 0) return;
  struct stat st {};
  const std::string part = folder_ + "/" + part_name(at.part_is_first != 0);
  const bool is_there = ::stat(part.c_str(), &st) == 0;
  int64_t written = 0;  // if that cannot be told: rather twice than not at all
  // A part that is smaller than before, or gone, is another one: the one that was written is full.
  if (is_there ? st.st_size < at.part_size : errno == ENOENT) {
    written = at.write_size;
  } else if (is_there) {
    written = std::min<int64_t>(at.write_size, st.st_size - at.part_size);
  }
  at.logged = at.write_from + written;
  at.write_size = 0;
}

int64_t OutputLog::in_pipe() const {
  int waiting = 0;
  return pipe_fd_ >= 0 && ::ioctl(pipe_fd_, FIONREAD, &waiting) == 0 ? waiting : 0;
}

int64_t OutputLog::unsearched() const {
  int64_t sum = in_pipe();
  for (const Followed& file : followed_) {
    struct stat st {};
    if (::fstat(file.fd.get(), &st) == 0)
      sum += std::max<int64_t>(0, st.st_size - file.at->searched);
  }
  return sum;
}

int64_t OutputLog::unkept() const {
  int64_t sum = in_pipe() + shared_->output_unkept;
  for (const Followed& file : followed_) {
    struct stat st {};
    if (::fstat(file.fd.get(), &st) == 0) sum += std::max<int64_t>(0, st.st_size - file.at->logged);
  }
  return sum;
}

bool OutputLog::open_part(const std::string& name) {
  auto opened = open_file(folder_ + "/" + name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW);
  if (!opened) return false;
  file_ = std::move(*opened);
  struct stat st {};
  ::fstat(file_.get(), &st);
  in_file_ = static_cast<size_t>(st.st_size);  // a restarted recorder continues here
  dates_.open(folder_ + "/" + output_times_name(name), in_file_ == 0);
  return true;
}

// The newest part becomes the older one, whose previous content is older than the last 16 MiB. A
// part without times is nothing wrong, times of another part are: a recorder may be killed in
// between.
void OutputLog::begin_part() {
  file_.reset();
  if (!is_head_) {
    const std::string older = folder_ + "/" + kOlderPart, newest = folder_ + "/" + kNewestPart;
    const std::string older_times = folder_ + "/" + output_times_name(kOlderPart);
    ::unlink(older_times.c_str());
    ::rename(newest.c_str(), older.c_str());
    ::rename((folder_ + "/" + output_times_name(kNewestPart)).c_str(), older_times.c_str());
  }
  is_head_ = false;
}

int64_t OutputLog::keep(std::string_view bytes, SharedFollowed* at) {
  while (!bytes.empty()) {
    if (!file_ && !open_part(part_name(is_head_))) {
      return static_cast<int64_t>(bytes.size());
    }
    if (in_file_ >= kPartBytes) {
      begin_part();
      continue;
    }
    const size_t n = std::min(bytes.size(), kPartBytes - in_file_);
    dates_.note(searched_ns_, in_file_);
    if (at != nullptr) {
      at->write_from = at->logged.load();
      at->part_size = static_cast<int64_t>(in_file_);
      at->part_is_first = is_head_ ? 1 : 0;
      at->write_size = static_cast<int64_t>(n);
    }
    if (!write_all(file_.get(), bytes.substr(0, n))) {
      struct stat st {};
      const bool known = ::fstat(file_.get(), &st) == 0;
      const auto kept = known ? st.st_size - static_cast<int64_t>(in_file_) : 0;
      file_.reset();
      return static_cast<int64_t>(bytes.size()) - std::max<int64_t>(0, kept);
    }
    in_file_ += n;
    bytes.remove_prefix(n);
    if (at != nullptr) {
      at->logged += static_cast<int64_t>(n);
      at->write_size = 0;
    }
  }
  return 0;
}

}  // namespace trainscope
