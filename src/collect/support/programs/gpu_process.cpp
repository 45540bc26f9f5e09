#include "collect/support/programs/gpu_process.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/json.h"

namespace trainscope {

namespace {

constexpr int kEndsByItselfMs = 20;

}  // namespace

Status GpuProcess::start(const std::string& root) {
  stop();
  HelperPlan plan;
  TS_TRY(plan.program, program_beside_ours("trainscope-gpu"));
  if (!root.empty()) plan.arguments = {root};
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error::from_errno("cannot create a socket pair", errno);
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  plan.socket = theirs.get();
  TS_CHECK_OK(helper_.start(plan));
  socket_ = std::move(ours);
  return {};
}

void GpuProcess::stop() {
  socket_.reset();
  helper_.end(kEndsByItselfMs);
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
    return Error("no reply from trainscope-gpu");
  }
  return body;
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
