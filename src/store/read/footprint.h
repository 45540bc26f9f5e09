// How much memory a run takes while it is open.
#pragma once

#include <cstddef>

namespace trainscope {

enum class Footprint {
  usual,  // up to 16 MiB of its files, and all gaps
  // For a server that keeps runs open while they grow: little of the files, and of more than
  // kMostListedGaps gaps the longest and as many of their events; the others are counted.
  small,
};
inline constexpr size_t kMostListedGaps = 2000;  // more cannot be told apart on a screen

}  // namespace trainscope
