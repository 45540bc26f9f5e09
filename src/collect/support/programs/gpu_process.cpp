#include "collect/support/programs/gpu_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr int kEndsByItselfMs = 20;
// A test compares this with the symbols that the program needs.
constexpr const char* kNeedsGlibc = "trainscope-gpu needs glibc 2.34 or later";

}  // namespace

Status GpuProcess::start(const std::string& root, bool only_job) {
  stop();
  HelperPlan plan;
  TS_TRY(plan.program, program_beside_ours("trainscope-gpu"));
  if (!root.empty() || only_job) plan.arguments = {root};
  if (only_job) plan.arguments.emplace_back("job");
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error::from_errno("cannot create a socket pair", errno);
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  plan.socket = theirs.get();
  // Nobody reads the pipe while the program runs: a full one must not stop it.
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error::from_errno("cannot create a pipe", errno);
  }
  UniqueFd errors(ends[0]);
  const UniqueFd errors_of_helper(ends[1]);
  plan.err = errors_of_helper.get();
  const Status started = helper_.start(plan);
  // The program exists, so it is its loader that does not.
  if (!started && started.error().error_number() == ENOENT) {
    return Error(fmt::format("{}; this system has none", kNeedsGlibc), ELIBACC);
  }
  if (!started) return started.error();
  socket_ = std::move(ours);
  errors_ = std::move(errors);
  return {};
}

void GpuProcess::stop() {
  socket_.reset();
  helper_.end(kEndsByItselfMs);
  errors_.reset();
}

bool GpuProcess::running() {
  if (helper_.is_running()) return true;
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

bool GpuProcess::receive(int64_t until_ns, const EventSink& event_sink, GpuHeader& header,
                         std::string& body) {
  buffer_.resize(kMaxGpuMessage);
  for (;;) {
    const int64_t left_ns = std::max<int64_t>(0, until_ns - monotonic_ns());
    pollfd ready = {socket_.get(), POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>((left_ns + 999'999) / 1'000'000));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    const ssize_t n = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n < static_cast<ssize_t>(sizeof header)) return false;
    std::memcpy(&header, buffer_.data(), sizeof header);
    if (header.version != kGpuProtocol) return false;
    body.assign(buffer_.data() + sizeof header, static_cast<size_t>(n) - sizeof header);
    if (header.message == GpuMessage::event) {
      const auto event = parse_json(body);
      if (event.is_object() && event_sink)
        event_sink(event.value("kind", "gpu"), event.value("text", ""));
      continue;
    }
    if (header.number == number_) return true;  // others are replies that came too late
  }
}

Result<std::string> GpuProcess::ask_layout(int64_t limit_ns, const EventSink& event_sink) {
  GpuHeader header;
  std::string body;
  if (!send(GpuMessage::ask_layout, {}) ||
      !receive(monotonic_ns() + limit_ns, event_sink, header, body) ||
      header.message != GpuMessage::layout) {
    return no_reply();
  }
  return body;
}

Result<std::string> GpuProcess::ask_limits(int64_t each_ns, int64_t buffer_bytes,
                                           int64_t limit_ns) {
  GpuHeader header;
  std::string body;
  if (!send(GpuMessage::ask_limits, {each_ns, buffer_bytes}) ||
      !receive(monotonic_ns() + limit_ns, {}, header, body) ||
      header.message != GpuMessage::limits) {
    return no_reply();
  }
  return body;
}

// A loader that cannot load the program says so and ends: what it printed was written before our
// socket was closed.
Error GpuProcess::no_reply() const {
  std::array<char, 1024> printed{};
  const ssize_t n = ::read(errors_.get(), printed.data(), printed.size());
  const std::string_view text(printed.data(), n > 0 ? static_cast<size_t>(n) : 0);
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto has = [&](std::string_view part) { return line.find(part) != line.npos; };
  if (has("GLIBC_")) {
    return Error(fmt::format("{}; this system has an older one", kNeedsGlibc), ELIBACC);
  }
  if (has("loading shared librar") || has("Error relocating")) {  // as glibc and musl print it
    return Error(fmt::format("cannot load trainscope-gpu: {}", printable(line)), ELIBACC);
  }
  return Error("no reply from trainscope-gpu");
}

GpuProcess::Answer GpuProcess::ask_row(GpuMessage message, const std::vector<pid_t>& job,
                                       int64_t limit_ns, const EventSink& event_sink,
                                       std::vector<int64_t>& row) {
  GpuHeader header;
  std::string body;
  const std::vector<int64_t> pids(job.begin(), job.end());
  if (!send(message, pids) || !receive(monotonic_ns() + limit_ns, event_sink, header, body)) {
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
