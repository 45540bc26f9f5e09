#include "collect/support/line_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr size_t kMaxAnswerBytes = size_t{1} << 20;

// What we have blocked or ignored is not the program's business.
void set_signals(posix_spawnattr_t& attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

Status LineProcess::start(const std::string& program, const std::vector<std::string>& arguments) {
  end();
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0) return Error::from_errno("cannot make a pipe", errno);
  const UniqueFd child_in(in[0]);
  to_.reset(in[1]);
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return Error::from_errno("cannot make a pipe", errno);
  from_.reset(out[0]);
  const UniqueFd child_out(out[1]);
  ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(to_.get(), F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, child_in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, child_out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_signals(attributes);
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int error =
      ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, words.data(), ::environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return {};
  pid_ = 0;
  return Error::from_errno("cannot start " + program, error);
}

Result<std::string> LineProcess::ask(std::string_view question, int64_t deadline_ns,
                                     int64_t quiet_ns) {
  if (pid_ == 0) return Error("it is not running");
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
    return Error("it did not answer");
  }
}

void LineProcess::end() {
  to_.reset();
  from_.reset();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  // A process that hangs in the kernel does not even end by this: it is left for whoever reaps us.
  for (int i = 0; i < 50 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) ::usleep(1000);
  pid_ = 0;
}

}  // namespace trainscope
