#include "training/no_steps.h"

#include <fmt/format.h>

#include "training/training.h"

namespace trainscope {

std::string why_no_steps(std::span<const Event> events) {
  std::string pattern, unseen;
  for (const Event& event : events) {
    if (event.kind == kStepsPattern) pattern = event.text;
    if (event.kind == kOutputIsUnseen) unseen = event.text;
  }
  if (!pattern.empty()) {
    return fmt::format(
        "no steps found; try --steps-from '{}', trainscope send or --tensorboard DIR", pattern);
  }
  if (!unseen.empty()) return "no steps: " + unseen;
  return "no steps found; try trainscope send, --tensorboard or --steps-from";
}

}  // namespace trainscope
