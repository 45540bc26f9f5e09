#include "record/intake/training_bar.h"

namespace trainscope {

void TrainingBar::follow(double now, double of) {
  length = of;
  step = now;
  outer_step.reset();
}

bool TrainingBar::accepts(double now, double of) {
  if (!length || of == length) {
    follow(now, of);
    return true;
  }
  if (of == outer) return accepts_outer(now);
  if (of == rejected) return false;
  if (of == replaced) {
    // It was not preprocessing: the longer bar is that of an evaluation.
    rejected = length;
    replaced.reset();
    follow(now, of);
    return true;
  }
  if (step.value_or(0) == 0) {
    outer = length;
    follow(now, of);
    return true;
  }
  if (step == length && of > *length) {
    replaced = length;
    follow(now, of);
    return true;
  }
  return false;
}

// A bar of epochs advances once for each bar within it. One that advances twice counts steps, and
// the bar within it was something else, such as an evaluation before the first step.
bool TrainingBar::accepts_outer(double now) {
  if (!outer_step || now <= *outer_step) {
    outer_step = now;
    return false;
  }
  rejected = length;
  const double of = *outer;
  outer.reset();
  follow(now, of);
  return true;
}

void TrainingBar::begin_epoch() {
  const std::optional<double> evaluation = replaced ? length : rejected;
  *this = {};
  rejected = evaluation;
}

bool TrainingBar::accepts_announced(double now, double of) {
  if (!length) length = of;
  const bool is_complete = step == length;
  if (of != length || (is_complete && now < of)) return false;
  step = now;
  return true;
}

}  // namespace trainscope
