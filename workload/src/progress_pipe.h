// Tells a recorder how training goes, through the FIFO that TRAINSCOPE_PIPE names.
//
// Guarantees: never blocks and never fails the training. One message is one line of at most 4,096
// bytes in one write(), so lines of several writers do not mix. What cannot be written at once
// (nobody reads, the FIFO is full) is dropped and counted.
// Limits: opened once, at construction; without a reader at that moment, or with something that is
// not a FIFO, it stays closed. SIGPIPE is held back for the writing thread during a write only.
#pragma once

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

  void step(std::uint64_t number, double loss, double time_s);
  void phase(std::string_view edge, std::string_view name, double time_s);  // edge: begin, end
  void scalar(std::string_view name, double value, std::uint64_t step, std::string_view set);

  bool is_open() const { return descriptor_ >= 0; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void send(std::string line);

  int descriptor_ = -1;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainscope::workload
