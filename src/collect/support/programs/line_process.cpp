#include "collect/support/programs/line_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr size_t kMaxAnswerBytes = size_t{1} << 20;

}  // namespace

Status LineProcess::start_as_root(const std::string& program,
                                  const std::vector<std::string>& arguments) {
  end();
  TS_TRY(Pipe in, make_pipe());
  TS_TRY(Pipe out, make_pipe());
  to_ = std::move(in.write);
  from_ = std::move(out.read);
  ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(to_.get(), F_SETFL, O_NONBLOCK);
  HelperPlan plan;
  plan.program = program;
  plan.arguments = arguments;
  plan.in = in.read.get();
  plan.out = out.write.get();
  plan.keeps_all_capabilities = true;
  return helper_.start(plan);
}

Result<std::string> LineProcess::ask(std::string_view question, int64_t deadline_ns,
                                     int64_t quiet_ns) {
  if (!is_running()) return Error("it is not running");
  // A program that has ended would send us a signal.
  sigset_t broken;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken, nullptr);
  if (Status written = write_all(to_.get(), question); !written) {
    end();
    return written.error();
  }
  std::string answer;
  std::array<char, 4096> chunk;
  const int64_t until = monotonic_ns() + deadline_ns;
  for (;;) {
    const int64_t left = until - monotonic_ns();
    const int64_t wait = answer.ends_with('\n') ? std::min(left, quiet_ns) : left;
    pollfd waiting = {from_.get(), POLLIN, 0};
    if (wait > 0 && ::poll(&waiting, 1, static_cast<int>(wait / 1'000'000)) > 0) {
      const ssize_t n = ::read(from_.get(), chunk.data(), chunk.size());
      if (n > 0 && answer.size() < kMaxAnswerBytes) {
        answer.append(chunk.data(), static_cast<size_t>(n));
        continue;
      }
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    }
    if (answer.ends_with('\n')) return answer;
    end();
    return Error("no reply");
  }
}

void LineProcess::end() {
  to_.reset();
  from_.reset();
  helper_.end();
}

}  // namespace trainscope
