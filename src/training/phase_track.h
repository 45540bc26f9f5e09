// Phases from the reports that begin and end them, and the time that some of them fill.
//
// A phase that begins again before it has ended is nested in itself, and the last end counts. If
// its sender has reported a step since then, or none at all yet, its end was lost instead, and it
// begins anew: one lost report costs no more than the phases of its step. A checkpoint or an
// evaluation during which the training goes on has lost its end as well, and is over.
//
// Limits: kMaxOpen phases are open at once; a begin beyond that is ignored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/training.h"
#include "training/training.h"

namespace trainscope {

class PhaseTrack {
 public:
  static constexpr size_t kMaxOpen = 10'000;

  // `main`: the sender that does the steps; its phases have an empty `who`.
  explicit PhaseTrack(std::string main) : main_(std::move(main)) {}

  // A phase that this report ends, or nothing. Reports of steps are to be added too.
  std::optional<TrainingPhase> add(const StoredReport& stored);
  // Phases that were never ended: the run ends them, but for pauses that were over before.
  std::vector<TrainingPhase> finish(double end_s) const;
  // When the phase of this name began that the sender of the steps has open, or nothing.
  std::optional<double> open_from(const std::string& name) const;
  // Whether that sender has a pause open.
  bool is_in_pause() const;
  // How many begins were ignored.
  int64_t ignored() const { return ignored_; }

 private:
  struct Open {
    double from_s = 0;
    int64_t depth = 1;
    int64_t steps = 0;    // that its sender had reported when it began last
    int64_t trained = 0;  // the same of the training
  };

  std::string shown(const std::string& who) const { return who == main_ ? "" : who; }
  void begin(const StoredReport& stored);
  void count_step(const StoredReport& stored);
  bool is_pause_over(const std::pair<std::string, std::string>& key, const Open& open) const;

  std::string main_;
  std::map<std::pair<std::string, std::string>, Open> open_;  // by who and name
  std::map<std::string, int64_t> steps_;                      // by who
  int64_t trained_ = 0;  // steps of the training by the main sender, without those of other sets
  int64_t ignored_ = 0;
};

// Spans of time in order, overlaps merged.
class Spans {
 public:
  // In order of `from_s`.
  void add(double from_s, double to_s);
  double within(double from_s, double to_s) const { return before(to_s) - before(from_s); }
  bool contains(double time_s) const;

 private:
  // How much of the time up to this moment they fill.
  double before(double time_s) const;

  std::vector<double> begins_, ends_, sums_;
};

}  // namespace trainscope
