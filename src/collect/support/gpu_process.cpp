#include "collect/support/gpu_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr int kSocketOfChild = 3;

std::string program_path() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "trainscope-gpu" : (self.parent_path() / "trainscope-gpu").string();
}

Result<pid_t> spawn(const std::string& program, const std::string& root, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, socket, kSocketOfChild);
  std::string name = "trainscope-gpu", where = root;
  char* const words[] = {name.data(), root.empty() ? nullptr : where.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Error::from_errno("cannot start " + program, error);
  return pid;
}

}  // namespace

Status GpuProcess::start(const std::string& root) {
  stop();
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error::from_errno("cannot make a socket pair", errno);
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  // dup2 of a descriptor onto itself would keep it close-on-exec.
  if (theirs.get() == kSocketOfChild) theirs.reset(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, 10));
  const std::string program = program_path();
  if (!exists(program)) return Error(program + " is not there", ENOENT);
  TS_TRY(pid_, spawn(program, root, theirs.get()));
  socket_ = std::move(ours);
  return {};
}

void GpuProcess::stop() {
  socket_.reset();
  if (pid_ == 0) return;
  // It ends by itself; a driver that holds it must not hold us.
  bool is_reaped = false;
  for (int i = 0; i < 20 && !is_reaped; ++i) {
    is_reaped = ::waitpid(pid_, nullptr, WNOHANG) != 0;
    if (!is_reaped) ::usleep(1000);
  }
  // Once it is reaped another process may have its pid.
  if (!is_reaped) {
    ::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, WNOHANG);
  }
  pid_ = 0;
}

bool GpuProcess::running() {
  if (pid_ == 0) return false;
  if (::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = 0;
  socket_.reset();
  return false;
}

bool GpuProcess::send(GpuMessage message, const std::vector<int64_t>& values) {
  GpuHeader header;
  header.message = message;
  header.number = ++number_;
  header.count = static_cast<uint32_t>(values.size());
  std::vector<char> whole(sizeof header + values.size() * sizeof(int64_t));
  std::memcpy(whole.data(), &header, sizeof header);
  if (!values.empty()) {
    std::memcpy(whole.data() + sizeof header, values.data(), values.size() * sizeof(int64_t));
  }
  return ::send(socket_.get(), whole.data(), whole.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

bool GpuProcess::receive(int64_t until_ns, const Tell& tell, GpuHeader& header, std::string& body) {
  buffer_.resize(kMaxGpuMessage);
  for (;;) {
    const int64_t left_ns = std::max<int64_t>(0, until_ns - monotonic_ns());
    pollfd ready = {socket_.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>((left_ns + 999'999) / 1'000'000)) <= 0) return false;
    const ssize_t n = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n < static_cast<ssize_t>(sizeof header)) return false;
    std::memcpy(&header, buffer_.data(), sizeof header);
    if (header.version != kGpuProtocol) return false;
    body.assign(buffer_.data() + sizeof header, static_cast<size_t>(n) - sizeof header);
    if (header.message == GpuMessage::event) {
      const auto event = nlohmann::json::parse(body, nullptr, false);
      if (event.is_object() && tell) tell(event.value("kind", "gpu"), event.value("text", ""));
      continue;
    }
    if (header.number == number_) return true;  // others are answers that came too late
  }
}

Result<std::string> GpuProcess::ask_layout(int64_t limit_ns, const Tell& tell) {
  GpuHeader header;
  std::string body;
  if (!send(GpuMessage::ask_layout, {}) ||
      !receive(monotonic_ns() + limit_ns, tell, header, body) ||
      header.message != GpuMessage::layout) {
    return Error("trainscope-gpu does not answer");
  }
  return body;
}

GpuProcess::Answer GpuProcess::ask_row(const std::vector<pid_t>& job, int64_t limit_ns,
                                       const Tell& tell, std::vector<int64_t>& row) {
  GpuHeader header;
  std::string body;
  const std::vector<int64_t> pids(job.begin(), job.end());
  if (!send(GpuMessage::ask_row, pids) || !receive(monotonic_ns() + limit_ns, tell, header, body)) {
    return Answer::none;
  }
  if (header.message == GpuMessage::changed) return Answer::changed;
  if (header.message != GpuMessage::row || body.size() != header.count * sizeof(int64_t)) {
    return Answer::none;
  }
  row.resize(header.count);
  if (!body.empty()) std::memcpy(row.data(), body.data(), body.size());
  return Answer::row;
}

}  // namespace trainscope
