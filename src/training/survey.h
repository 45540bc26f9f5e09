// The first pass over the reports of a run: what is known of its training before the time of any
// step is, and what a second pass needs for that.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/training.h"
#include "training/phase_sums.h"
#include "training/phase_track.h"
#include "training/step_track.h"
#include "training/training.h"

namespace trainscope {

inline constexpr size_t kMaxWarmup = 10;

struct Survey {
  double duration_s = 0;            // of the run
  bool is_output_refused = false;   // printed lines may be a stranger's
  std::string sender;               // whose phases are the training's
  std::string source, track;        // of the steps
  ValueNames names;                 // of the values of a step
  std::vector<std::string> joined;  // other numbers of the event files that give these
  int64_t first_covers = 1;         // steps that the first report stands for
  bool are_averages_known = true;
  bool are_times_known = true;
  Spans pauses;
  PhaseSums phase_sums;
  bool has_input_phases = false;
  double longest_input_s = 0;                // of those that were reported when they had ended
  std::optional<double> open_input_from_s;   // the run ended while it waited
  std::optional<double> first_phase_from_s;  // of those that are not pauses
  std::array<bool, kMaxWarmup> is_warmup{};  // which of the first steps
};

// Which reports count, in order of time: not those that were stored twice, and not printed lines
// where they are refused.
class CountedFilter {
 public:
  explicit CountedFilter(bool is_output_refused) : is_output_refused_(is_output_refused) {}
  bool counts(const StoredReport& stored);

 private:
  bool is_new(const StoredReport& stored);

  bool is_output_refused_;
  double time_s_ = 0;
  std::set<std::string> seen_;  // reports of event files at time_s_
};

// The reports that count.
std::unique_ptr<Reader<StoredReport>> read_counted(const Reports& reports, bool is_output_refused,
                                                   ReportsWanted wanted = ReportsWanted::all);

}  // namespace trainscope
