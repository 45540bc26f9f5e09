// Numbers that a job reports: which a report holds, which of them is the loss or the accuracy, and
// what they show of how well it learns.
//
// A job may report several accuracies (accuracy, balanced_accuracy) and losses (loss,
// cross_entropy). One name per metric, set and source is used everywhere: in steps, series and
// results. It is the plain name if it ever occurs, otherwise the first that was reported. Several
// senders (ranks) may write to the pipe: of the train set only the numbers of the one that does the
// steps are used, unless it reports none of a metric.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/points_summary.h"
#include "model/training.h"
#include "training/training.h"
#include "training/training_series.h"

namespace trainscope {

// Appends the numbers of a report: those that are finite, and the others.
void append_numbers(const StoredReport& stored, std::vector<TrainingNumber>& finite,
                    std::vector<TrainingNumber>* not_finite = nullptr);

// Results by set and the series of losses and accuracies, from numbers in order of time.
class NumberFold {
 public:
  // Of losses and accuracies with more names than this, the later ones are left out.
  static constexpr size_t kMaxNames = 1000;

  // `sender`: the one that does the steps.
  explicit NumberFold(std::string sender) : sender_(std::move(sender)) {}

  void add(const TrainingNumber& number);
  // The name that was chosen, or "" without any.
  std::string name_of(TrainingMetric metric, std::string_view set, std::string_view source) const;
  // One per set with a number: train, validation, test, then others. Of the source of the steps
  // where it reports that metric and set, otherwise of the first one of pipe, event files and
  // output that does. Milestones have no step yet.
  std::vector<SetResults> results(std::string_view source) const;
  std::vector<TrainingSeries> series() const;
  // Numbers that were left out.
  int64_t left_out() const { return left_out_; }

 private:
  struct Candidate {
    std::string name;
    PointsSummary summary;
    SetResults results;  // of this number alone
  };
  struct Group {
    std::vector<Candidate> candidates;  // in order of their first report; at least one
    bool is_of_sender = false;          // its numbers of the train set; otherwise those of everyone
  };
  using Key = std::tuple<TrainingMetric, std::string, std::string>;  // and set, source
  bool counts(const Key& key, bool is_of_sender);
  Candidate* find(const Key& key, bool is_of_sender, const std::string& name);
  const Candidate* chosen(TrainingMetric metric, std::string_view set,
                          std::string_view source) const;
  const Candidate* chosen_of_sources(TrainingMetric metric, std::string_view set,
                                     std::string_view first) const;
  static const Candidate& choose(const Group& group);

  std::string sender_;
  std::map<Key, Group> groups_;
  size_t names_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace trainscope
