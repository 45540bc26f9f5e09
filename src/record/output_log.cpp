#include "record/output_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace trainscope {

namespace {

constexpr size_t kPartBytes = size_t{16} << 20;

}  // namespace

OutputLog::OutputLog(std::string run_folder, int pipe_fd, const std::vector<int>& followed, See see)
    : folder_(std::move(run_folder)), see_(std::move(see)), pipe_fd_(pipe_fd) {
  for (const int fd : followed) {
    // A second open file of the same file: reading it does not move the job's position.
    auto opened = open_file(fmt::format("/proc/self/fd/{}", fd), O_RDONLY | O_NONBLOCK);
    if (!opened) continue;
    struct stat st {};
    ::fstat(opened->get(), &st);
    const bool appends = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
    const off_t position = ::lseek(fd, 0, SEEK_CUR);
    followed_.push_back({std::move(*opened), appends || position < 0 ? st.st_size : position});
  }
}

int64_t OutputLog::collect() {
  std::array<char, 65536> bytes{};
  int64_t lost = 0;
  for (;;) {
    const ssize_t n = ::read(pipe_fd_, bytes.data(), bytes.size());
    if (n <= 0) break;
    see_(0, {bytes.data(), static_cast<size_t>(n)});
    lost += keep({bytes.data(), static_cast<size_t>(n)});
  }
  for (size_t i = 0; i < followed_.size(); ++i) {
    Followed& file = followed_[i];
    struct stat st {};
    if (::fstat(file.fd.get(), &st) == 0) {
      if (st.st_size == file.offset) continue;
      if (st.st_size < file.offset) file.offset = 0;  // truncated
    }
    for (;;) {
      const ssize_t n = ::pread(file.fd.get(), bytes.data(), bytes.size(), file.offset);
      if (n <= 0) break;
      file.offset += n;
      see_(i + 1, {bytes.data(), static_cast<size_t>(n)});
      lost += keep({bytes.data(), static_cast<size_t>(n)});
    }
  }
  return lost;
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
