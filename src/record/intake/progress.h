// Training progress on its way to the run.
//
// ProgressSink writes reports of every source to the ring; ProgressPipe reads the FIFO of
// TRAINSCOPE_PIPE. Guarantees: half of the ring is reserved for samples; malformed lines are
// counted and the first is an event; a sender never waits, not even one that writes as a shell
// does: if the ring stays full, the pipe is still emptied and the lost lines are counted.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/sample/ring.h"
#include "training/training.h"

namespace trainscope {

class ProgressSink {
 public:
  ProgressSink(Ring& ring, SharedMemory memory) : ring_(ring), memory_(memory) {}

  // Whether there is space for more. If not, new reports are refused and counted.
  bool has_room() const { return ring_.head() - ring_.tail() <= ring_.capacity() / 2; }

  // Reports that are stored together; one push into the ring.
  class Batch {
   public:
    // `time_ns` since t = 0; `source` is a literal. A mark becomes an event.
    void add(int64_t time_ns, std::string_view source, Report report);

   private:
    friend class ProgressSink;
    std::string lines_;
    int64_t count_ = 0, last_step_ = -1;
    struct StepReport {
      int64_t time_ns = 0;
      std::string_view source;
      Report report;
    };
    std::vector<StepReport> steps_;
    std::vector<std::pair<int64_t, std::string>> marks_;
  };
  void push(const Batch& batch);

 private:
  Ring& ring_;
  SharedMemory memory_;
  std::mutex mutex_;  // numbers are given in the order of the ring
};

class ProgressPipe {
 public:
  ProgressPipe(int fd, ProgressSink& sink, Ring& ring, SharedMemory memory)
      : fd_(fd), sink_(sink), ring_(ring), memory_(memory) {}

  // Takes available lines, at most a megabyte; false if the ring must be emptied first.
  bool read_some();
  // The last call has left something: a sender that never stops must not block other work.
  bool has_backlog() const { return has_backlog_; }
  // All lines of the last call have their own timestamps, so the next ones can wait.
  bool are_all_timed() const { return timed_ > 0 && untimed_ == 0; }

 private:
  void take(std::string_view bytes, int64_t now_ns);
  void refuse_some();
  void take_line(std::string_view line, int64_t now_ns, ProgressSink::Batch& batch);
  void note_unreadable(std::string_view line, const std::string& reason, int64_t now_ns);
  int64_t timestamp_of(const Report& report, int64_t now_ns);

  int fd_;
  ProgressSink& sink_;
  Ring& ring_;
  SharedMemory memory_;
  std::string rest_;       // of a line whose end has not come yet
  bool skipping_ = false;  // within a line that is too long
  bool warned_bad_timestamp_ = false, has_backlog_ = false;
  int64_t timed_ = 0, untimed_ = 0;  // lines of the last call
};

// Notes about messages that are not in the run. `from_own_pattern`: with --steps-from.
std::vector<std::string> progress_notes(const Shared& shared, bool from_own_pattern);

}  // namespace trainscope
