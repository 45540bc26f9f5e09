#include "record/supervise/launch.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/interrupted.h"
#include "base/text.h"
#include "kernel/process_tree.h"
#include "record/supervise/signal_inbox.h"

namespace trainscope {

namespace {

// In the child: only calls that lead to exec.
[[noreturn]] void become(const std::vector<char*>& argv,
                         const std::map<std::string, std::string>& more_environment,
                         const OutputPlan& output, int error_fd) {
  SignalInbox::restore();
  if (output.job_stdin) ::dup2(output.job_stdin.get(), STDIN_FILENO);
  if (output.job_stdout) ::dup2(output.job_stdout.get(), STDOUT_FILENO);
  if (output.job_stderr) ::dup2(output.job_stderr.get(), STDERR_FILENO);
  for (const auto& [name, value] : more_environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(argv[0], argv.data());
  const int error = errno;
  (void)!::write(error_fd, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<Launched> launch(const std::vector<std::string>& command,
                        const std::map<std::string, std::string>& more_environment,
                        const OutputPlan& output) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  TS_TRY(Pipe error, make_pipe());
  pid_t pid = 0;
  {
    const SignalInbox::Hold hold;
    pid = ::fork();
    if (pid == 0) become(argv, more_environment, output, error.write.get());
    if (pid < 0) return Error::from_errno("cannot start a process", errno);
  }
  error.write.reset();
  Launched launched{pid, 0};
  const ssize_t n = retry_interrupted(
      [&] { return ::read(error.read.get(), &launched.exec_error, sizeof launched.exec_error); });
  if (n != sizeof launched.exec_error) {
    launched.exec_error = 0;  // the pipe closed by itself: exec worked
  } else {
    (void)retry_interrupted([&] { return ::waitpid(pid, nullptr, 0); });
  }
  return launched;
}

std::vector<std::string> command_line_of(pid_t pid) {
  std::vector<std::string> words;
  auto text = read_file(fmt::format("/proc/{}/cmdline", pid));
  if (!text || text->empty()) return words;
  if (text->back() == '\0') text->pop_back();
  for (const std::string_view word : split(*text, '\0')) words.emplace_back(word);
  return words;
}

std::string working_directory_of(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(fmt::format("/proc/{}/cwd", pid).c_str(), path, sizeof path);
  return size <= 0 ? "" : std::string(path, static_cast<size_t>(size));
}

char process_state(pid_t pid) {
  ProcessStat stat;
  return read_stat("", pid, stat) ? stat.state : '?';
}

bool signal_waits(pid_t pid, int number) {
  if (pid == 0) return false;
  const auto text = read_file(fmt::format("/proc/{}/status", pid));
  const size_t at = text ? text->find("\nShdPnd:\t") : std::string::npos;
  if (at == std::string::npos) return false;
  const uint64_t pending = std::strtoull(text->c_str() + at + 9, nullptr, 16);
  return (pending >> (number - 1) & 1U) != 0;
}

}  // namespace trainscope
