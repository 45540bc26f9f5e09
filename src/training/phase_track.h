// Phases from the reports that begin and end them, and the time that some of them fill.
#pragma once

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
  // `main`: the sender that does the steps; its phases have an empty `who`.
  explicit PhaseTrack(std::string main) : main_(std::move(main)) {}

  // A phase that this report ends, or nothing.
  std::optional<TrainingPhase> add(const StoredReport& stored);
  // Phases that were never ended: the run ends them.
  std::vector<TrainingPhase> finish(double end_s) const;

 private:
  std::string shown(const std::string& who) const { return who == main_ ? "" : who; }

  std::string main_;
  std::map<std::pair<std::string, std::string>, double> open_;  // by who and name
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
