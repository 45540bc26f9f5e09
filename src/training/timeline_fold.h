// Makes a StepTimeline of steps that are added one by one.
//
// Memory does not grow with the steps: the parts become longer instead.
#pragma once

#include <cstddef>

#include "model/training.h"

namespace trainscope {

class TimelineFold {
 public:
  static constexpr size_t kMostParts = 512;

  // In any order. A step without a time adds nothing.
  void add(const Step& step);
  const StepTimeline& timeline() const { return timeline_; }

 private:
  // Divides seconds of one kind evenly over some time.
  void spread(double from_s, double to_s, double StepTimeline::Part::*kind, double seconds);
  StepTimeline::Part& part_at(size_t place);
  void make_room_for(double time_s);

  StepTimeline timeline_;
};

}  // namespace trainscope
