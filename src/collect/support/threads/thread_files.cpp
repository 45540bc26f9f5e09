#include "collect/support/threads/thread_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "kernel/worker_process.h"

namespace trainscope {

namespace {

constexpr size_t kStatBytes = 2048, kSchedstatBytes = 128, kWaitChannelBytes = 128;

// The kernel's functions in which a thread waits for an answer from FUSE: request_wait_answer, or,
// as a compiler made it, request_wait_answer.isra.0 or its caller fuse_simple_request.
bool is_fuse_wait(std::string_view function) {
  return function.starts_with("request_wait_answer") ||
         function.find("fuse_") != std::string_view::npos;
}

// Of an empty text: a file of an ended thread cannot be read, or is empty.
ThreadState state_of_unread() {
  return errno == ESRCH || errno == 0 ? ThreadState::ended : ThreadState::unreadable;
}

ThreadState read_times(ProcFile& schedstat, ThreadTimes& times) {
  errno = 0;
  const std::string_view text = schedstat.read();
  if (text.empty()) return state_of_unread();
  return parse_schedstat(text, times) ? ThreadState::alive : ThreadState::unreadable;
}

}  // namespace

Status FirstThread::open(const std::string& root, pid_t pid) {
  const std::string folder = fmt::format("{}/proc/{}", root, pid);
  TS_CHECK_OK(stat_.open(folder + "/stat", kStatBytes));
  (void)wait_channel_.open(folder + "/wchan", kWaitChannelBytes);  // it does not exist everywhere
  return schedstat_.open(folder + "/schedstat", kSchedstatBytes);
}

void FirstThread::close() {
  stat_.close();
  schedstat_.close();
  wait_channel_.close();
}

char FirstThread::wait_state(char state) {
  if (state != 'S' || !wait_channel_.is_open()) return state;
  const std::string_view function = trim(wait_channel_.read());
  hidden_waits_ = function == "0" ? hidden_waits_ + 1 : 0;
  return is_fuse_wait(function) ? 'D' : state;
}

ThreadState FirstThread::read(ProcessStat& stat, ThreadReading& reading, bool is_alone) {
  ThreadTimes times;
  const ThreadState state = read_times(schedstat_, times);
  if (state != ThreadState::alive) return state;
  const bool slept = times == last_times_ && (last_stat_.state == 'S' || last_stat_.state == 'D');
  reading.times = times;
  if (slept && is_alone) {
    stat = last_stat_;
    return ThreadState::alive;
  }
  errno = 0;
  const std::string_view text = stat_.read();
  if (text.empty()) return state_of_unread();
  ProcessStat parsed;
  if (!parse_stat(text, parsed)) return ThreadState::unreadable;
  stat = last_stat_ = parsed;
  last_times_ = times;
  reading.delay_ticks = block_delay_ticks(text).value_or(reading.delay_ticks);
  return ThreadState::alive;
}

void OtherThreads::follow(const std::string& root, pid_t pid) {
  if (pid == pid_) return;
  root_ = root;
  pid_ = pid;
  threads_.clear();
  count_ = 0;
  are_too_many_ = false;
}

void OtherThreads::read(int64_t count, const std::function<int64_t()>& now_ns) {
  if (pid_ == 0) return;
  are_too_many_ = count > kMostThreads;
  if (are_too_many_) {
    threads_.clear();
    count_ = 0;
    return;
  }
  bool some_ended = false;
  for (Thread& thread : threads_) {
    ThreadReading reading;
    reading.now_ns = now_ns();
    const ThreadState state = read_times(thread.schedstat, reading.times);
    thread.has_ended = state == ThreadState::ended;
    some_ended = some_ended || thread.has_ended;
    thread.before = thread.now;
    if (state != ThreadState::alive) continue;
    thread.now = reading;
    if (thread.is_new) look_at(thread);
  }
  std::erase_if(threads_, [](const Thread& thread) { return thread.has_ended; });
  if (count == count_ && !some_ended) return;
  find(now_ns);
  count_ = static_cast<int64_t>(threads_.size()) + 1 == count ? count : 0;
}

// Its name is read with its second reading: a thread that has just begun has the name of the thread
// that started it.
void OtherThreads::look_at(Thread& thread) {
  thread.is_new = false;
  const std::string path = fmt::format("{}/proc/{}/task/{}/comm", root_, pid_, thread.tid);
  thread.is_pin = line_or_empty(path).starts_with(kPinThread);
}

void OtherThreads::find(const std::function<int64_t()>& now_ns) {
  for (const std::string& name : names_in(fmt::format("{}/proc/{}/task", root_, pid_))) {
    const auto tid = parse_integer(name);
    if (!tid || *tid == pid_ || threads_.size() + 1 >= static_cast<size_t>(kMostThreads)) continue;
    add(static_cast<pid_t>(*tid), now_ns);
  }
}

void OtherThreads::add(pid_t tid, const std::function<int64_t()>& now_ns) {
  const auto is_known = [tid](const Thread& thread) { return thread.tid == tid; };
  if (std::any_of(threads_.begin(), threads_.end(), is_known)) return;
  Thread thread;
  thread.tid = tid;
  const std::string path = fmt::format("{}/proc/{}/task/{}/schedstat", root_, pid_, tid);
  if (!thread.schedstat.open(path, kSchedstatBytes)) return;
  thread.now.now_ns = now_ns();
  if (read_times(thread.schedstat, thread.now.times) != ThreadState::alive) return;
  threads_.push_back(std::move(thread));
}

const OtherThreads::Thread* OtherThreads::busiest() const {
  const Thread* most = nullptr;
  for (const Thread& thread : threads_) {
    if (thread.is_new || thread.is_pin) continue;
    if (most == nullptr || thread.ran_ns() > most->ran_ns()) most = &thread;
  }
  return most;
}

const OtherThreads::Thread* OtherThreads::pin() const {
  for (const Thread& thread : threads_) {
    if (thread.is_pin) return &thread;
  }
  return nullptr;
}

}  // namespace trainscope
