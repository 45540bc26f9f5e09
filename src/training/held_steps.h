// Steps that are held in memory while a run is followed: what analyses read of them; and the
// results that were reported besides.
//
// Guarantees: steps are added by one thread while others read them. Limits: results are not; those
// that are read are a copy.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "model/training.h"
#include "training/survey.h"

namespace trainscope {

class HeldSteps {
 public:
  // In order of time. `has_waits`: the job reports waits for data; the same for all steps.
  void add(const Step& step, bool has_waits);
  size_t size() const;
  // Without the numbers that were reported with it, but for these as a float: loss, accuracy,
  // throughput.
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
    float loss = 0, accuracy = 0, throughput = 0;  // NaN: unknown
  };
  mutable std::shared_mutex mutex_;
  std::deque<HeldStep> steps_;
  std::deque<std::pair<double, double>> longest_waits_;  // of each, if the job reports waits
};

// The last losses and accuracies of evaluations and of other sources than that of the steps.
class HeldResults {
 public:
  static constexpr size_t kMost = 20'000;

  // A number that is no result is not held. In any order: sources are read one after the other.
  void add(TrainingNumber number);
  // Called after the last of some that were added, before they are read.
  void settle();
  // By time.
  const std::deque<TrainingNumber>& numbers() const { return numbers_; }

 private:
  std::deque<TrainingNumber> numbers_;
  bool is_in_order_ = true;
};

// The steps that are held now, and `last`. Of phases and other numbers nothing is known.
struct Held {
  std::shared_ptr<const HeldSteps> steps;
  std::shared_ptr<const HeldResults> results;
};
std::shared_ptr<const TrainingDetails> held_details(Held held, std::vector<Step> last,
                                                    const Survey& survey);
// The same for a list of steps.
std::shared_ptr<const TrainingDetails> listed_details(std::vector<Step> steps);

}  // namespace trainscope
