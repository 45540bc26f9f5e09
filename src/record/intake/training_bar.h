// Decides which of the progress bars of one stream is that of the training.
//
// Programs show several: a bar of epochs around that of the steps, an evaluation between two steps
// or epochs, preprocessing before. A bar is known by its length. Guarantees: a bar within one that
// is still at 0 is the training; the bar around it takes over only if it advances by itself. A
// longer bar replaces one that is complete, until that one is shown again or another epoch is
// announced. Limits: bars of the same length are one bar; steps that were counted before a bar was
// replaced stay counted; a training that is shorter than a bar of preprocessing before it is not
// counted until an epoch is announced.
#pragma once

#include <optional>

namespace trainscope {

struct TrainingBar {
  // Plain numbers, so that they can be stored in the shared memory.
  std::optional<double> length, step;        // of the training
  std::optional<double> outer, outer_step;   // the bar around it; its step since the last of ours
  std::optional<double> replaced, rejected;  // lengths: was complete before ours; is not training

  // Is a bar that shows `now` of `of` that of the training?
  bool accepts(double now, double of);
  // The same for a program that announces each epoch by a separate line and evaluates with the same
  // bar: after a complete bar the next one is not the training.
  bool accepts_announced(double now, double of);
  // A line announced an epoch: the next bar is the training. One that replaced a bar within the
  // epoch before is not, unless it is that next bar.
  void begin_epoch();

 private:
  bool accepts_outer(double now);
  void follow(double now, double of);
};

}  // namespace trainscope
