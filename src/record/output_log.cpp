#include "record/output_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr size_t kPartBytes = size_t{16} << 20;
constexpr size_t kReadBytes = 65536;
constexpr int kReadsAtOnce = 16;

}  // namespace

OutputLog::OutputLog(std::string run_folder, int pipe_fd, const std::vector<int>& followed,
                     Shared& shared, See see)
    : folder_(std::move(run_folder)), see_(std::move(see)), pipe_fd_(pipe_fd) {
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

OutputLog::Taken OutputLog::collect() {
  Taken taken;
  const int64_t now = monotonic_ns();
  take_pipe(now, taken);
  for (Followed& file : followed_) take_file(file, now, taken);
  return taken;
}

void OutputLog::take_pipe(int64_t time_ns, Taken& taken) {
  std::array<char, kReadBytes> bytes;  // NOLINT: filled by read
  for (int i = 0; i < kReadsAtOnce; ++i) {
    const ssize_t n = ::read(pipe_fd_, bytes.data(), bytes.size());
    if (n <= 0) return;
    const std::string_view text(bytes.data(), static_cast<size_t>(n));
    see_(0, text, time_ns);
    taken.lost += keep(text);
    taken.bytes += n;
  }
  taken.more = true;
}

void OutputLog::take_file(Followed& file, int64_t time_ns, Taken& taken) {
  struct stat st {};
  SharedFollowed& at = *file.at;
  if (::fstat(file.fd.get(), &st) == 0) {
    if (st.st_size < at.searched) at.searched = at.logged = 0;  // truncated
    if (st.st_size == at.logged) return;
  }
  std::array<char, kReadBytes> bytes;  // NOLINT: filled by pread
  for (int i = 0; i < kReadsAtOnce; ++i) {
    const ssize_t n = ::pread(file.fd.get(), bytes.data(), bytes.size(), at.logged);
    if (n <= 0) return;
    std::string_view text(bytes.data(), static_cast<size_t>(n));
    // Each is noted when it is done. What a recorder that died had searched already is not
    // searched again, or its steps would count twice.
    const int64_t begin = at.logged, end = begin + n;
    if (end > at.searched) {
      see_(file.stream, text.substr(static_cast<size_t>(std::max<int64_t>(0, at.searched - begin))),
           time_ns);
      at.searched = end;
    }
    taken.lost += keep(text);
    at.logged = end;
    taken.bytes += n;
  }
  taken.more = true;
}

bool OutputLog::open_part(const std::string& name) {
  auto opened = open_file(folder_ + "/" + name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW);
  if (!opened) return false;
  file_ = std::move(*opened);
  struct stat st {};
  ::fstat(file_.get(), &st);
  in_file_ = static_cast<size_t>(st.st_size);  // a recorder that was restarted goes on
  return true;
}

int64_t OutputLog::keep(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!file_ && !open_part(is_head_ ? "output.log" : "output.2.log")) {
      return static_cast<int64_t>(bytes.size());
    }
    if (in_file_ >= kPartBytes) {
      file_.reset();
      // The newest part becomes the older one; what that held is older than the last 16 MiB.
      if (!is_head_) {
        ::rename((folder_ + "/output.2.log").c_str(), (folder_ + "/output.1.log").c_str());
      }
      is_head_ = false;
      continue;
    }
    const size_t n = std::min(bytes.size(), kPartBytes - in_file_);
    if (!write_all(file_.get(), bytes.substr(0, n))) {
      struct stat st {};
      const bool known = ::fstat(file_.get(), &st) == 0;
      const auto kept = known ? st.st_size - static_cast<int64_t>(in_file_) : 0;
      file_.reset();
      return static_cast<int64_t>(bytes.size()) - std::max<int64_t>(0, kept);
    }
    in_file_ += n;
    bytes.remove_prefix(n);
  }
  return 0;
}

}  // namespace trainscope
