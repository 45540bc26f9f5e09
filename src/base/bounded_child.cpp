#include "base/bounded_child.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <new>

#include "base/fd.h"
#include "base/interrupted.h"

namespace trainscope {

namespace {

constexpr int64_t kLookNs = 20'000'000;
// Less CPU time than this is only a thread that wakes up to check its clock.
constexpr int64_t kProgressNs = 100'000;
constexpr int64_t kReapNs = 2'000'000'000, kReapKilledNs = 100'000'000;
constexpr size_t kMaxAnswer = size_t{16} << 20;
constexpr int kExitNoMemory = 3, kExitException = 4;

void take_signals(bool heeds_signals) {
  sigset_t set;
  if (!heeds_signals) {
    sigfillset(&set);
    ::sigprocmask(SIG_SETMASK, &set, nullptr);
    return;
  }
  // Our handlers would use descriptors that are closed here.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) ::signal(number, SIG_IGN);
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) ::signal(number, SIG_DFL);
  sigemptyset(&set);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
}

// And no core file.
void limit_memory(int64_t bytes) {
  be_first_oom_victim();
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  if (bytes <= 0) return;
  int64_t pages = 0;
  if (const auto text = read_line("/proc/self/statm")) {
    std::from_chars(text->data(), text->data() + text->size(), pages);
  }
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) != 0) return;
  const auto wanted = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + bytes);
  space.rlim_cur = std::min(space.rlim_cur, wanted);
  ::setrlimit(RLIMIT_AS, &space);
}

[[noreturn]] void be_child(const ChildLimits& limits, int answer_fd,
                           const std::function<std::string()>& work) {
  try {
    take_signals(limits.heeds_signals);
    null_standard_streams();
    std::vector<int> kept = limits.kept;
    kept.push_back(answer_fd);
    close_all_but(std::move(kept), STDERR_FILENO + 1);
    limit_memory(limits.memory_bytes);
    const bool is_written = static_cast<bool>(write_all(answer_fd, work()));
    ::_exit(is_written ? 0 : kExitException);
  } catch (const std::bad_alloc&) {
    ::_exit(kExitNoMemory);
  } catch (...) {
    ::_exit(kExitException);
  }
}

ChildAnswer ended(int status, std::string text) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {ChildEnd::done, std::move(text)};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitNoMemory) {
    return {ChildEnd::out_of_memory, "not enough memory"};
  }
  if (!WIFSIGNALED(status)) return {ChildEnd::failed, "internal error"};
  const int number = WTERMSIG(status);
  const bool asked = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
  // Nothing else sends it to our child: memory ran out.
  if (number == SIGKILL) return {ChildEnd::out_of_memory, "not enough memory"};
  return {asked ? ChildEnd::interrupted : ChildEnd::failed,
          asked ? "interrupted" : std::string("it crashed: ") + ::strsignal(number)};
}

// True if it was reaped; a child that is blocked in the kernel is left to the process that inherits
// it.
bool reap_soon(pid_t child, int64_t limit_ns, int& status) {
  const int64_t until = monotonic_ns() + limit_ns;
  for (int pause_us = 50;; pause_us = std::min(2 * pause_us, 5000)) {
    if (retry_interrupted([&] { return ::waitpid(child, &status, WNOHANG); }) != 0) return true;
    if (monotonic_ns() >= until) return false;
    ::usleep(static_cast<useconds_t>(pause_us));
  }
}

void kill_child(pid_t child) {
  int status = 0;
  ::kill(child, SIGKILL);  // not reaped yet: its pid is not reused
  (void)reap_soon(child, kReapKilledNs, status);
}

// Does any of its threads wait for nothing but a processor?
bool is_runnable(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  const auto names = list_folder(tasks);
  if (!names) return false;
  for (const std::string& name : *names) {
    const auto stat = read_file(tasks + "/" + name + "/stat", 4096);
    const size_t end = stat ? stat->rfind(") ") : std::string::npos;
    if (end != std::string::npos && stat->compare(end + 2, 1, "R") == 0) return true;
  }
  return false;
}

enum class Hearing { over, more, nothing, too_long };

Hearing hear(int fd, std::string& text) {
  std::array<pollfd, 1> ready = {{{fd, POLLIN, 0}}};
  if (poll_whole(ready, kLookNs) <= 0) return Hearing::nothing;
  std::array<char, 4096> part;
  const ssize_t n = retry_interrupted([&] { return ::read(fd, part.data(), part.size()); });
  if (n <= 0) return Hearing::over;
  if (text.size() + static_cast<size_t>(n) > kMaxAnswer) return Hearing::too_long;
  text.append(part.data(), static_cast<size_t>(n));
  return Hearing::more;
}

}  // namespace

void be_first_oom_victim() {
  if (auto fd = open_file("/proc/self/oom_score_adj", O_WRONLY)) (void)write_all(fd->get(), "1000");
}

StallWatch::StallWatch(pid_t pid, int64_t idle_ns, int64_t total_ns)
    : pid_(pid),
      idle_ns_(idle_ns),
      total_ns_(total_ns),
      begin_ns_(monotonic_ns()),
      progress_ns_(begin_ns_) {}

bool StallWatch::is_over() {
  const int64_t now = monotonic_ns(), cpu = process_cpu_ns(pid_);
  if (cpu - cpu_ns_ >= kProgressNs) {
    cpu_ns_ = cpu;
    progress_ns_ = now;
  }
  const int64_t idle_ns = now >= short_from_ns_ ? std::min(idle_ns_, short_idle_ns_) : idle_ns_;
  idle_ = now - progress_ns_ >= idle_ns;
  if (idle_ && idle_ns > 0 && is_runnable(pid_)) {
    progress_ns_ = now;  // it would continue if the machine were not busy
    idle_ = false;
  }
  return idle_ || now - begin_ns_ >= total_ns_;
}

ChildAnswer ask_child(const ChildLimits& limits, const std::function<std::string()>& work) {
  auto pipe = make_pipe();
  if (!pipe) return {ChildEnd::not_started, pipe.error().message()};
  const pid_t child = ::fork();
  if (child < 0) {
    return {ChildEnd::not_started, Error::from_errno("cannot start a process", errno).message()};
  }
  if (child == 0) be_child(limits, pipe->write.get(), work);
  pipe->write.reset();
  StallWatch watch(child, limits.idle_ns, limits.total_ns);
  std::string text;
  for (;;) {
    const Hearing heard = hear(pipe->read.get(), text);
    if (heard == Hearing::over) break;
    if (heard == Hearing::too_long) {
      kill_child(child);
      return {ChildEnd::failed, "its reply is too long"};
    }
    if (heard == Hearing::more || !watch.is_over()) continue;
    if (!limits.leave_behind) kill_child(child);
    return watch.is_idle() ? ChildAnswer{ChildEnd::hung, "no response"}
                           : ChildAnswer{ChildEnd::too_slow, "it took too long"};
  }
  int status = 0;
  if (!reap_soon(child, kReapNs, status)) return {ChildEnd::done, std::move(text)};
  return ended(status, std::move(text));
}

}  // namespace trainscope
