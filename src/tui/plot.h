// Values as characters: braille, two values wide and four dots high each, or columns of ASCII.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tui/tui.h"

namespace trainscope {

// Values per column of characters.
inline constexpr int kValuesPerColumn = 2;

// `rows` of characters, the topmost first, each with one entry per column: filled from the bottom
// up to the value. A value that is present has at least one dot, an absent one has none.
// `values` has kValuesPerColumn entries per column; missing ones are absent.
std::vector<std::vector<std::string>> plot_columns(const std::vector<std::optional<double>>& values,
                                                   double low, double high, int columns, int rows,
                                                   Charset charset);

}  // namespace trainscope
