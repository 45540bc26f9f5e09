// Steps that are held in memory while a run is followed: what analyses read of them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/training.h"
#include "training/survey.h"

namespace trainscope {

class HeldSteps {
 public:
  // In order of time. `has_waits`: the job reports waits for data; the same for all steps.
  void add(const Step& step, bool has_waits);
  size_t size() const { return steps_.size(); }
  // Without the numbers that were reported with it, but for the loss as a float.
  void read(size_t at, Step& step) const;
  // How many had ended before this time.
  size_t count_before(double time_s) const;
  // The last step that had ended by then, or nothing.
  std::optional<int64_t> last_at(double time_s) const;

 private:
  struct HeldStep {
    double time_s = 0, mean_s = 0, input_wait_s = 0;  // NaN: unknown
    int64_t step = 0, covers = 1;
    bool has_own_time = false;
    float loss = 0;  // NaN: unknown
  };
  std::deque<HeldStep> steps_;
  std::deque<std::pair<double, double>> longest_waits_;  // of each, if the job reports waits
};

// The steps that are held now, and `last`. Of phases and numbers nothing is known.
std::shared_ptr<const TrainingDetails> held_details(std::shared_ptr<const HeldSteps> held,
                                                    std::vector<Step> last, const Survey& survey);
// The same for a list of steps.
std::shared_ptr<const TrainingDetails> listed_details(std::vector<Step> steps);

}  // namespace trainscope
