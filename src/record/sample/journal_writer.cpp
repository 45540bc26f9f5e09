#include "record/sample/journal_writer.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>

#include "base/clock.h"
#include "base/fd.h"

namespace trainscope {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWritePause(1000);
// A disk that takes this long for the data of a second counts as hanging.
constexpr int64_t kHangingWrite = 3 * kNsPerSecond;
// Between two attempts to write the last block, from 1 ms on: 255 ms together.
constexpr milliseconds kMostClosingPause(16);

}  // namespace

JournalWriter::JournalWriter(Ring& ring, SharedMemory memory, Setup setup)
    : ring_(ring),
      memory_(memory),
      setup_(std::move(setup)),
      journal_(ring, memory, setup_.run_path, setup_.manifest) {}

void JournalWriter::start() {
  thread_ = std::thread([this] { run(); });
}

void JournalWriter::write_soon() {
  const std::lock_guard lock(mutex_);
  is_half_full_ = true;
  wake_.notify_all();
}

void JournalWriter::close() {
  const std::lock_guard lock(mutex_);
  is_closing_ = true;
  wake_.notify_all();
}

bool JournalWriter::wait_for_end(milliseconds limit) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, limit, [this] { return has_ended_; });
}

void JournalWriter::wait_for_end() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return has_ended_; });
}

bool JournalWriter::is_sealed() {
  const std::lock_guard lock(mutex_);
  return is_sealed_;
}

void JournalWriter::run() {
  prctl(PR_SET_NAME, "ts-write");
  bool is_closing = false, is_sealed = false;
  milliseconds pause = kWritePause;
  uint64_t taken = ring_.head();
  if (memory_->incarnation == 1) write_zero();
  while (!is_closing) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, pause, [this] { return is_closing_ || is_half_full_; });
      is_closing = is_closing_;
      is_half_full_ = false;
    }
    // A thousand rows per second of a machine with hundreds of processors fill the ring sooner.
    const bool is_fast = ring_.head() - taken > ring_.capacity() / 4;
    pause = is_fast ? std::max(pause / 2, milliseconds(20)) : std::min(pause * 2, kWritePause);
    taken = ring_.head();
    setup_.before_writing();
    // The first flush writes records that an earlier recorder left.
    const int64_t began_ns = monotonic_ns();
    const Status flushed = is_closing ? close_journal() : journal_.flush();
    note_hang(monotonic_ns() - began_ns);
    report(flushed);
    is_sealed = static_cast<bool>(flushed);
    setup_.after_writing();
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  is_sealed_ = is_sealed;
  ended_.notify_all();
}

// Nothing is written after this, so an error that passes must not cost the samples in memory. Each
// attempt continues where the one before it failed, and as long as they get further they go on.
Status JournalWriter::close_journal() {
  const int64_t began_ns = monotonic_ns();
  Status closed = journal_.close();
  milliseconds pause(1);
  for (int attempts = 1; !closed && attempts < kClosingAttempts; ++attempts) {
    if (monotonic_ns() - began_ns > kHangingWrite) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kMostClosingPause);
    const uint64_t released = ring_.tail();
    closed = journal_.close();
    if (ring_.tail() == released) continue;
    attempts = 0;
    pause = milliseconds(1);
  }
  return closed;
}

// The manifest that the supervisor wrote lacks t = 0. It is written here, because a disk that is
// slow or hangs must not delay the job.
void JournalWriter::write_zero() {
  std::unique_lock lock(mutex_);
  while (!has_time_begun(*memory_)) {
    if (wake_.wait_for(lock, milliseconds(1), [this] { return is_closing_; })) return;
  }
  lock.unlock();
  (void)write_manifest(setup_.run_path, with_zero(setup_.manifest, *memory_));
}

// A folder that was removed and made again lacks it.
void JournalWriter::write_manifest_again() {
  if (exists(setup_.run_path + "/manifest.json")) return;
  (void)write_manifest(setup_.run_path, with_zero(setup_.manifest, *memory_));
}

void JournalWriter::report(const Status& status) {
  const bool has_failed = !status;
  memory_->storage_error = has_failed ? status.error().error_number() : 0;
  if (has_failed == has_failed_) return;
  has_failed_ = has_failed;
  post_message(has_failed
                   ? "recording paused, the job is still running: " + status.error().message()
                   : std::string("recording resumed: the run folder is writable again"));
  if (!has_failed) write_manifest_again();
  push_event(ring_, monotonic_ns() - memory_->zero_ns, "storage",
             has_failed ? status.error().message() : "the run folder is writable again");
}

void JournalWriter::note_hang(int64_t took_ns) {
  if (took_ns < kHangingWrite) return;
  push_event(ring_, std::max<int64_t>(0, monotonic_ns() - memory_->zero_ns), "storage",
             fmt::format("the run folder did not respond for {:.1f} s", to_seconds(took_ns)));
}

void JournalWriter::warn_of_lost_samples() {
  post_message(fmt::format(
      "samples are being lost, the job is still running: the run folder {}, and the memory for "
      "samples is full",
      has_failed_ ? "cannot be written" : "does not respond"));
}

void JournalWriter::post_message(const std::string& text) {
  const std::lock_guard lock(message_mutex_);
  leave_message(*memory_, text);
}

}  // namespace trainscope
