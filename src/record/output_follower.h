// The thread that follows the job's output: keeps it, dates its lines, and watches who writes it.
//
// Guarantees: lines are dated when they are written; those that are read together have one time.
// A job that prints without pause is read kReadingsPerSecond times a second at most, so following
// it costs little whatever it prints. Where files cannot be watched they are read every 50 ms, and
// an event says that times are coarse. What somebody outside the job writes to the same file is
// told by an event, and from then on no steps are searched for. Lines are searched before they are
// kept: a disk that hangs costs those that come later.
#pragma once

#include <functional>
#include <string>

#include "record/foreign_writers.h"
#include "record/output_log.h"
#include "record/output_watch.h"

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

  // Until `is_over`, which is asked whenever `wake_fd` can be read. All was searched then; what
  // came last is not kept yet.
  void run(int wake_fd, const std::function<bool()>& is_over);
  void keep_rest();

  // By another thread, when a disk holds that of run(): what will not be searched any more, and
  // what output.log lacks.
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
