// How many steps the job has reported so far, in the memory that supervisor and recorder share.
//
// Guarantees: the same count as reading the run again gives, or none. Memory is fixed. Limits: a
// count is lost when a track's reports arrive out of order, when there are more tracks than fit, or
// when the recorder dies while it counts; then only reading the run gives it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "training/training.h"

namespace trainscope {

class SharedSteps {
 public:
  // Between begin() and end(), on one thread at a time.
  void begin() { changes_.fetch_add(1); }
  void add(int64_t time_ns, std::string_view source, const Report& report);
  void end() { changes_.fetch_add(1); }

  bool is_known() const { return changes_ % 2 == 0 && is_lost_ == 0; }
  // Of the source that counts; nothing without a step.
  std::optional<int64_t> count(bool is_output_refused) const;
  // Its steps per second from the first report to the last; nothing if these are at one time.
  std::optional<double> steps_per_s(bool is_output_refused) const;

 private:
  static constexpr size_t kMaxTracks = 128, kMaxNameBytes = 128;
  struct Track {
    char source[16] = {}, name[kMaxNameBytes] = {};
    uint32_t source_bytes = 0, name_bytes = 0;
    int64_t first_ns = 0, last_ns = 0, last_number = 0, reports = 0;
    StepCounter counter;

    std::string_view source_text() const { return {source, source_bytes}; }
    std::string_view name_text() const { return {name, name_bytes}; }
  };
  Track* find(std::string_view source, std::string_view name);
  const Track* chosen(bool is_output_refused) const;

  std::atomic<uint32_t> changes_{0};  // odd: a recorder is counting, or died while it did
  std::atomic<int32_t> is_lost_{0};
  uint32_t tracks_ = 0, last_ = 0;
  Track track_[kMaxTracks];
};

}  // namespace trainscope
