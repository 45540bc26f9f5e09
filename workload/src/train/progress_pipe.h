// Tells a recorder how training goes, through the FIFO that TRAINSCOPE_PIPE names. The lines are
// those of docs/guide/progress.md.
//
// Guarantees: never blocks and never fails the training. One message is one line of at most 4,096
// bytes in one write(), so lines of several writers do not mix; any thread may send. What cannot be
// written at once (nobody reads, the FIFO is full) is dropped and counted, and the recorder is told
// how many are missing before the next line that goes through.
// Limits: opened once, at construction; without a reader at that moment, or with something that is
// not a FIFO, it stays closed. SIGPIPE is held back for the writing thread during a write only.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainscope::workload {

class ProgressPipe {
 public:
  // `path` as the environment gives it: null or empty means that nobody wants to know.
  explicit ProgressPipe(const char* path);
  ~ProgressPipe();
  ProgressPipe(const ProgressPipe&) = delete;
  ProgressPipe& operator=(const ProgressPipe&) = delete;

  // Every time is CLOCK_MONOTONIC in seconds, of the moment that the line is about.
  void step(std::uint64_t number, double loss, double time_s);
  void epoch(std::uint64_t number, double loss, double time_s);
  void begin(std::string_view phase, double time_s);
  void end(std::string_view phase, double time_s);
  // A phase that ended at `time_s`; `who` is empty for the thread that trains.
  void phase(std::string_view name, double duration_s, double time_s, std::string_view who = "");
  void batch(std::uint64_t items);
  void scalar(std::string_view name, double value, std::string_view set, double time_s);
  void mark(std::string_view text, double time_s);

  bool is_open() const { return descriptor_ >= 0; }
  std::uint64_t dropped() const { return dropped_; }  // since the beginning

 private:
  void send(std::string line);
  void tell_dropped();

  int descriptor_ = -1;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::uint64_t> told_ = 0;  // how many of them the recorder knows of
};

}  // namespace trainscope::workload
