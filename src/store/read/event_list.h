// Puts the events of a run together.
//
// Guarantees: they are in order of time, and one that is stored twice is there once. The events of
// gaps, of which a busy machine makes as many as gaps, take 16 bytes each until they are listed,
// and only as many are listed as wanted. Limits: so many different reasons are held as the run has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace trainscope {

inline constexpr std::string_view kGapEvent = "gap";

// When the recorder noted a gap, and why.
struct GapNote {
  double time_s = 0;
  const std::string* reason = nullptr;
};

struct RunEvents {
  std::vector<Event> listed;
  int64_t left_out = 0;            // events of gaps that are not listed
  std::vector<GapNote> gap_notes;  // of all gaps
  std::set<std::string> reasons;   // of these notes
};

class EventList {
 public:
  explicit EventList(size_t most_gaps) : most_gaps_(most_gaps) {}

  Status add(std::string_view payload);
  // All that were added; of the gaps the first.
  RunEvents finish();

 private:
  const size_t most_gaps_;
  RunEvents events_;
};

}  // namespace trainscope
