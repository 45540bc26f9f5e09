// The thread that follows the job's output: stores it, timestamps its lines, and checks which
// processes write it.
//
// Guarantees: a line gets the time at which it was written; lines that are read together have the
// same timestamp. A job that prints without pause is read at most kReadingsPerSecond times per
// second, which limits the overhead. If files cannot be watched, they are read every 50 ms, and an
// event reports that timestamps are coarse. If a process outside the job writes to the same file,
// an event reports it, and from then on no steps are searched for. Lines are searched before they
// are stored: a disk that hangs affects only later lines.
#pragma once

#include <functional>
#include <string>

#include "record/intake/foreign_writers.h"
#include "record/intake/output_log.h"
#include "record/intake/output_watch.h"

namespace trainscope {

class OutputFollower {
 public:
  using EventSink = std::function<void(const std::string& kind, const std::string& text)>;
  OutputFollower(OutputLog log, ForeignWriters writers, SharedMemory memory, EventSink event_sink)
      : log_(std::move(log)),
        watch_(log_.files()),
        writers_(std::move(writers)),
        memory_(memory),
        event_sink_(std::move(event_sink)) {}

  // Runs until `is_over`, which is checked whenever `wake_fd` is readable. Then everything was
  // searched; the last bytes are not stored yet.
  void run(int wake_fd, const std::function<bool()>& is_over);
  void keep_rest();

  // Called by another thread while a disk blocks run(): counts the bytes that will not be searched,
  // and those that output.log lacks.
  void note_unsearched();
  void count_unkept() { memory_->output_dropped += log_.unkept(); }

 private:
  void take();
  void search();
  void look_for_strangers(bool at_once);
  bool must_back_off();
  void report_coarse_times();

  OutputLog log_;
  OutputWatch watch_;
  ForeignWriters writers_;
  SharedMemory memory_;
  EventSink event_sink_;
  int64_t bytes_ = 0, seen_bytes_ = 0;
  int64_t looked_ns_ = 0;
  bool was_opened_ = false, is_backlogged_ = false;
  double readings_left_ = 0;
  int64_t refilled_ns_ = 0;
};

}  // namespace trainscope
