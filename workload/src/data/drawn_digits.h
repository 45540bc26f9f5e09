// Generates the digits 0-9 as 28x28 images: strokes, turned, moved, scaled, slanted, of varying
// thickness, with noise. The data for machines that have no real one installed.
//
// Guarantees: image i of a seed is the same on every call, whatever the count; classes are
// balanced (image i shows i mod 10); different seeds give different images of the same kind,
// so a second seed is an honest held-out set.
// Limits: far easier than handwriting; an accuracy on it shows that training works, no more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/samples.h"

namespace trainscope::workload {

ImageSet draw_digits(std::size_t count, std::uint64_t seed);

}  // namespace trainscope::workload
