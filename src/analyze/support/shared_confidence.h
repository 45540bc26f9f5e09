// How sure a verdict, the alternatives to it and the findings are, on one scale: the probability
// that it is what limits the training.
//
// Guarantees: no alternative is surer than the verdict, and together they are at most 1.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "analyze/support/judged.h"
#include "model/finding.h"

namespace trainscope {

class SharedConfidence {
 public:
  // `judged`: strongest first. `is_clear`: the first one is the verdict. `confidence` in it.
  SharedConfidence(const std::vector<Judged>& judged, bool is_clear, double confidence);

  // Those that are worth a word, the surest first.
  const std::vector<Diagnosis::Alternative>& alternatives() const { return alternatives_; }
  double of(const Judged& judged) const;

 private:
  struct Sure {
    double strength = 0, confidence = 0;  // of the strongest rule with this verdict
  };
  std::map<std::string_view, Sure> verdicts_;
  std::vector<Diagnosis::Alternative> alternatives_;
};

// Lowers confidences until none is above `most` and all together are not above `sum`.
void scale_down(std::vector<Diagnosis::Alternative>& alternatives, double most, double sum);

}  // namespace trainscope
