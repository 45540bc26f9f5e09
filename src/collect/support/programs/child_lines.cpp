#include "collect/support/programs/child_lines.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr size_t kMaxLine = 64 * 1024;

}  // namespace

Status ChildLines::start(const std::string& program, const std::vector<std::string>& arguments) {
  stop();
  TS_TRY(Pipe out, make_pipe());
  ::fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
  HelperPlan plan;
  plan.program = program;
  plan.arguments = arguments;
  plan.out = out.write.get();
  TS_CHECK_OK(helper_.start(plan));
  out_ = std::move(out.read);
  return {};
}

void ChildLines::stop() {
  out_.reset();
  buffer_.clear();
  helper_.end();
}

void ChildLines::take_all() {
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t n = ::read(out_.get(), part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // nothing more now
    if (n == 0) {
      out_.reset();
      return;
    }
    buffer_.append(part.data(), static_cast<size_t>(n));
    if (buffer_.size() > kMaxLine) buffer_.erase(0, buffer_.size() - kMaxLine);
  }
}

bool ChildLines::newest_line(std::string& line) {
  if (out_) take_all();
  const size_t end = buffer_.rfind('\n');
  if (end == std::string::npos) return false;
  const size_t before = end == 0 ? std::string::npos : buffer_.rfind('\n', end - 1);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  line = buffer_.substr(begin, end - begin);
  buffer_.erase(0, end + 1);
  return true;
}

bool ChildLines::wait_for_line(std::string& line, int64_t timeout_ns) {
  const int64_t until = monotonic_ns() + timeout_ns;
  for (;;) {
    if (newest_line(line)) return true;
    const int64_t left_ms = (until - monotonic_ns()) / 1'000'000;
    if (!out_ || left_ms <= 0) return false;
    pollfd waiting{out_.get(), POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(left_ms));
  }
}

}  // namespace trainscope
