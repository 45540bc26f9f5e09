// Why a run has no steps, and what to do about it.
#pragma once

#include <span>
#include <string>

#include "model/manifest.h"

namespace trainscope {

// One line. The recorder's events name a pattern for --steps-from that it guessed from printed
// lines, or why it did not see any.
std::string why_no_steps(std::span<const Event> events);

}  // namespace trainscope
