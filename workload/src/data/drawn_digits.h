// Draws the digits 0-9 as 28x28 pictures: strokes, turned, moved, scaled, slanted, of varying
// thickness, with noise. The data for machines that have no real one installed.
//
// Guarantees: picture i of a seed is the same on every call, whatever the count; classes are
// balanced (picture i shows i mod 10); different seeds give different pictures of the same kind,
// so a second seed is an honest held-out set.
// Limits: far easier than handwriting; an accuracy on it says that training works, no more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/samples.h"

namespace trainscope::workload {

ImageSet draw_digits(std::size_t count, std::uint64_t seed);

}  // namespace trainscope::workload
