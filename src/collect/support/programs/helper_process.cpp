#include "collect/support/programs/helper_process.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/fd.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr int kSocketOfChild = 3;
constexpr int kKillLimitMs = 50;

// Files of the system and of the job's user; the job's /proc/PID/fdinfo; NVIDIA's profiling
// counters and debugfs; and nvidia-modprobe, which NVML starts if the driver is not loaded yet.
constexpr std::array kKeptCapabilities = {CAP_DAC_OVERRIDE,
                                          CAP_DAC_READ_SEARCH,
                                          CAP_SYS_PTRACE,
                                          CAP_SYS_ADMIN,
                                          CAP_MKNOD,
                                          CAP_SYS_MODULE,
                                          38 /* CAP_PERFMON, newer than some headers */};

// Everything that the child needs before exec, prepared in advance: it runs in our memory while we
// wait, so it must not allocate. (A copy of our memory would cost a short job milliseconds.)
struct Prepared {
  std::vector<char*> argv, environment;
  int in = -1, out = -1, err = -1, socket = -1;
  bool keeps_all_capabilities = false;
  int error = 0;  // why exec failed
};

// exec gives root all capabilities of the bounding set. Refused to users who have none to lose.
void drop_capabilities() {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    const bool kept = std::find(kKeptCapabilities.begin(), kKeptCapabilities.end(), capability) !=
                      kKeptCapabilities.end();
    if (!kept) ::prctl(PR_CAPBSET_DROP, capability);
  }
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Descriptors above those of the plan are closed by exec, also those that our caller left open.
void close_others_on_exec(int first) {
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC, since Linux 5.11
  ::syscall(SYS_close_range, first, ~0U, kCloseOnExec);
}

int become(void* plan) {
  Prepared& prepared = *static_cast<Prepared*>(plan);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  reset_signals();
  const bool placed = ::dup2(prepared.in, STDIN_FILENO) >= 0 &&
                      ::dup2(prepared.out, STDOUT_FILENO) >= 0 &&
                      ::dup2(prepared.err, STDERR_FILENO) >= 0 &&
                      (prepared.socket < 0 || ::dup2(prepared.socket, kSocketOfChild) >= 0);
  close_others_on_exec(prepared.socket < 0 ? kSocketOfChild : kSocketOfChild + 1);
  if (!prepared.keeps_all_capabilities) drop_capabilities();
  if (placed && ::chdir("/") == 0) {
    ::execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
  }
  prepared.error = errno;
  ::_exit(127);
}

// As posix_spawn does it, which cannot do all of become(). No signal may arrive in between.
pid_t start_prepared(Prepared& prepared) {
  constexpr size_t kStackBytes = size_t{64} << 10;
  alignas(16) std::array<char, kStackBytes> stack;
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid =
      ::clone(become, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &prepared);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) prepared.error = error;
  return std::max(pid, 0);
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Above 3, where dup2 onto 0 to 3 cannot close it.
Result<UniqueFd> moved_up(int fd) {
  UniqueFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, kSocketOfChild + 1));
  if (!moved) return Error::from_errno("cannot duplicate a descriptor", errno);
  return moved;
}

}  // namespace

std::vector<std::string> helper_environment() {
  std::vector<std::string> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
  const char* folders = ::getauxval(AT_SECURE) == 0 ? ::getenv("LD_LIBRARY_PATH") : nullptr;
  std::string kept;
  for (const std::string_view folder : split(folders == nullptr ? "" : folders, ':')) {
    // A relative or empty one means the working directory, which may belong to somebody else.
    if (folder.starts_with('/')) kept += (kept.empty() ? "" : ":") + std::string(folder);
  }
  if (!kept.empty()) environment.push_back("LD_LIBRARY_PATH=" + kept);
  return environment;
}

Result<std::string> program_beside_ours(const std::string& name) {
  char self[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", self, sizeof self);
  if (size <= 0) return Error::from_errno("cannot find the path of this program", errno);
  const std::string own(self, static_cast<size_t>(size));
  std::string path = own.substr(0, own.rfind('/') + 1) + name;
  if (!exists(path)) return Error(path + " does not exist", ENOENT);
  return path;
}

Status HelperProcess::start(const HelperPlan& plan) {
  end();
  if (!plan.program.starts_with('/')) return Error(plan.program + " is not an absolute path");
  std::vector<std::string> words = {plan.program};
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  const std::vector<std::string> variables = helper_environment();
  TS_TRY(const UniqueFd opened, open_file("/dev/null", O_RDWR));
  TS_TRY(const UniqueFd null, moved_up(opened.get()));
  TS_TRY(const UniqueFd in, moved_up(plan.in < 0 ? null.get() : plan.in));
  TS_TRY(const UniqueFd out, moved_up(plan.out < 0 ? null.get() : plan.out));
  TS_TRY(const UniqueFd err, moved_up(plan.err < 0 ? null.get() : plan.err));
  TS_TRY(const UniqueFd socket, moved_up(plan.socket < 0 ? null.get() : plan.socket));
  Prepared prepared{pointers_to(words),
                    pointers_to(variables),
                    in.get(),
                    out.get(),
                    err.get(),
                    plan.socket < 0 ? -1 : socket.get(),
                    plan.keeps_all_capabilities};
  pid_ = start_prepared(prepared);
  if (prepared.error == 0) return {};
  end();
  return Error::from_errno("cannot start " + plan.program, prepared.error);
}

bool HelperProcess::is_running() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = 0;
  return pid_ > 0;
}

bool HelperProcess::wait_for_end(int limit_ms) {
  for (int i = 0; is_running() && i < limit_ms; ++i) ::usleep(1000);
  return pid_ == 0;
}

void HelperProcess::end(int patience_ms) {
  if (pid_ <= 0) return;
  // It is our child and not reaped yet, so its pid is not reused. Its own children may stay when it
  // ends by itself; they are in its group.
  const pid_t group = pid_;
  if (!wait_for_end(patience_ms)) {
    ::kill(-group, SIGKILL);
    ::kill(group, SIGKILL);
  }
  // A process that hangs in the kernel does not end even then: it is left to the process that reaps
  // us.
  (void)wait_for_end(kKillLimitMs);
  pid_ = 0;
}

}  // namespace trainscope
