#include "tui/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace trainscope {

namespace {

constexpr int kDotsPerCell = 4;
constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAsciiLevels = "_.-=+*#@";
// What an ASCII cell looks like with so many of its dots.
constexpr std::string_view kAsciiDots = " .-=#";

// How far a value is between the ends, from 0 to 1.
double share_of(double value, double low, double high) {
  if (!(high > low)) return value > low ? 1 : 0;
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

// The dots of a column of `most`: 0 for an absent value.
int dots_of(const std::optional<double>& value, double low, double high, int most) {
  if (!value || !std::isfinite(*value)) return 0;
  return std::max(1, static_cast<int>(std::lround(share_of(*value, low, high) * most)));
}

// U+2800 and a bit per dot; both columns are filled from the bottom.
std::string braille(int left, int right) {
  constexpr std::array<unsigned, kDotsPerCell + 1> kLeft = {0, 0x40, 0x44, 0x46, 0x47};
  constexpr std::array<unsigned, kDotsPerCell + 1> kRight = {0, 0x80, 0xA0, 0xB0, 0xB8};
  const unsigned bits = kLeft[static_cast<size_t>(left)] | kRight[static_cast<size_t>(right)];
  if (bits == 0) return " ";
  return {static_cast<char>(0xE2), static_cast<char>(0xA0 | bits >> 6),
          static_cast<char>(0x80 | (bits & 0x3F))};
}

std::string cell_text(int left, int right, Charset charset) {
  if (charset == Charset::utf8) return braille(left, right);
  return std::string(1, kAsciiDots[static_cast<size_t>(std::max(left, right))]);
}

}  // namespace

Charset charset_from_environment() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string text = lower(value);
    const bool is_utf8 =
        text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
    return is_utf8 ? Charset::utf8 : Charset::ascii;
  }
  return Charset::ascii;
}

std::string sparkline(const std::vector<std::optional<double>>& values, double low, double high,
                      Charset charset) {
  std::string out;
  for (const auto& value : values) {
    if (!value || !std::isfinite(*value)) {
      out += ' ';
      continue;
    }
    const auto level = static_cast<size_t>(
        std::lround(share_of(*value, low, high) * static_cast<double>(kBlocks.size() - 1)));
    out += charset == Charset::utf8 ? kBlocks[level] : kAsciiLevels.substr(level, 1);
  }
  return out;
}

std::vector<std::vector<std::string>> plot_columns(const std::vector<std::optional<double>>& values,
                                                   double low, double high, int columns, int rows,
                                                   Charset charset) {
  const int most = rows * kDotsPerCell;
  const auto dots_at = [&](int k) {
    const auto place = static_cast<size_t>(k);
    return place < values.size() ? dots_of(values[place], low, high, most) : 0;
  };
  std::vector<std::vector<std::string>> out(static_cast<size_t>(rows),
                                            std::vector<std::string>(static_cast<size_t>(columns)));
  for (int c = 0; c < columns; ++c) {
    const int left = dots_at(c * kValuesPerColumn), right = dots_at(c * kValuesPerColumn + 1);
    for (int r = 0; r < rows; ++r) {
      const int below = (rows - 1 - r) * kDotsPerCell;
      const auto of_cell = [&](int dots) { return std::clamp(dots - below, 0, kDotsPerCell); };
      out[static_cast<size_t>(r)][static_cast<size_t>(c)] =
          cell_text(of_cell(left), of_cell(right), charset);
    }
  }
  return out;
}

}  // namespace trainscope
