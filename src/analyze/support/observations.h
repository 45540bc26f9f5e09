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
  // The same of a share, which people read as a percentage.
  double share_degree(std::string what, std::optional<double> share, double low, double high);
  // What `look` returns. What it looks at speaks against the rule or only weighs: it is no
  // evidence.
  template <typename Look>
  double aside(Look look) {
    const size_t before = seen_.size();
    const double found = look();
    set_aside(before);
    return found;
  }

  // The same of a name. What led to none is no evidence.
  template <typename Look>
  std::string found_by(Look look) {
    const size_t before = seen_.size();
    std::string found = look();
    if (found.empty()) set_aside(before);
    return found;
  }

  // Of the last degree().
  Diagnosis::Seen& last_seen() { return seen_.back(); }
  std::vector<Diagnosis::Seen> take() { return std::exchange(seen_, {}); }

 protected:
  size_t looks() const { return seen_.size(); }
  void set_aside(size_t from) {
    for (size_t i = from; i < seen_.size(); ++i) seen_[i].is_evidence = false;
  }

 private:
  std::vector<Diagnosis::Seen> seen_;
};

}  // namespace trainscope
