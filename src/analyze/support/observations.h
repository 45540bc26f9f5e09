// What a rule looked at, for `diagnose --explain`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/finding.h"

namespace trainscope {

class Observations {
 public:
  // How far a value speaks for something: 0 up to `low`, 1 from `high` on, and in between in
  // proportion. `low` above `high`: small values speak for it. Unknown is 0.
  double degree(std::string what, std::optional<double> value, double low, double high);

  // Of the last degree().
  Diagnosis::Seen& last_seen() { return seen_.back(); }
  std::vector<Diagnosis::Seen> take() { return std::exchange(seen_, {}); }

 private:
  std::vector<Diagnosis::Seen> seen_;
};

}  // namespace trainscope
