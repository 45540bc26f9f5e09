// The steps that one source tells of: numbers unrolled over epochs, repeats merged, all counted.
//
// Guarantees: count() follows the contract ("Steps"). Reports are given in order of time. Limits:
// numbers that go back begin a new epoch.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/training.h"
#include "parse/progress.h"

namespace trainscope {

class StepTrack {
 public:
  // `items`: the batch size that holds at this time.
  void add(double time_s, const Report& report, std::optional<double> items = std::nullopt);
  // Takes what another track of the same training tells of the same steps.
  void merge_from(const StepTrack& other);

  size_t observed() const { return steps_.size(); }
  // Reports name items of the dataset instead of steps: each counts as a step.
  bool counts_items() const { return last_item_.has_value(); }
  // Ends the track.
  std::vector<Step> take_steps();
  std::optional<int64_t> count() const;

 private:
  struct Numbered {
    int64_t number = 0;
    std::optional<double> epoch, of;
  };
  bool begins_epoch(const Numbered& now) const;
  std::optional<double> items_since_last(const Report& report);
  void merge(const Report& report);
  int64_t interval() const;

  std::vector<Step> steps_;
  Numbered last_;
  std::optional<double> last_item_;
  int64_t first_number_ = 0, offset_ = 0;
  int64_t gap_ = 1;            // between the last two numbers that went on
  bool knows_length_ = false;  // "7 of 100": numbers begin at 1, whatever was seen first
};

inline constexpr const char* kCountsItems =
    "the job prints items, not steps: each printed line counts as a step";

// Does this number of a report say where in the training it is, or how long the step took?
bool is_place(std::string_view name);

// The steps at the beginning that took much longer than the rest and did not wait for data.
void mark_warmup(std::vector<Step>& steps);

// The middle of the durations; nothing without one.
std::optional<double> median_duration_s(const std::vector<Step>& steps);

}  // namespace trainscope
