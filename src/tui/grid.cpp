#include "tui/grid.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace trainscope {

namespace {

// The next code point of a text that is not empty, as its bytes.
std::string_view take_character(std::string_view& text) {
  const std::string_view before = text;
  (void)take_code_point(text);
  return before.substr(0, before.size() - text.size());
}

int columns_of(std::string_view text) { return static_cast<int>(display_width(text)); }

}  // namespace

Grid::Grid(ScreenSize size, Charset charset)
    : size_{std::max(1, size.rows), std::max(1, size.columns)},
      charset_(charset),
      cells_(static_cast<size_t>(size_.rows) * static_cast<size_t>(size_.columns)) {}

std::string Grid::shown(std::string_view text) const {
  std::string safe = printable(text);
  if (charset_ == Charset::utf8) return safe;
  std::string out;
  for (std::string_view rest = safe; !rest.empty();) {
    const std::string_view character = take_character(rest);
    if (character.size() == 1) {
      out += character;
    } else if (character == "·" || character == "–" || character == "—") {
      out += "-";
    } else if (character == "…") {
      out += "~";
    } else if (character == "µ") {
      out += "u";
    } else if (character == "×") {
      out += "x";
    } else if (display_width(character) > 0) {
      out += "?";
    }
  }
  return out;
}

int Grid::put(int row, int column, std::string_view given, Look look, int width) {
  if (row < 0 || row >= size_.rows || column < 0 || width <= 0) return column;
  const std::string safe = shown(given);
  const int end = std::min<int>(size_.columns, std::min(width, size_.columns) + column);
  const bool is_cut = column + columns_of(safe) > end;
  const int last = is_cut ? end - 1 : end;  // a cut text leaves a column for its mark
  for (std::string_view rest = safe; !rest.empty();) {
    const std::string_view character = take_character(rest);
    const int wide = columns_of(character);
    if (column + wide > last) break;
    if (wide == 0) {
      // It combines with the character before; a pile of them is not worth its bytes.
      if (column > 0 && column <= size_.columns) {
        std::string& before = cells_[index(row, column - 1)].text;
        if (!before.empty() && before.size() < 16) before += character;
      }
      continue;
    }
    cells_[index(row, column)] = {std::string(character), look};
    if (wide == 2) cells_[index(row, column + 1)] = {"", look};
    column += wide;
  }
  if (is_cut && column < end) {
    cells_[index(row, column++)] = {charset_ == Charset::utf8 ? "…" : "~", look};
  }
  return column;
}

void Grid::put_right(int row, int end, std::string_view text, Look look) {
  const int wide = columns_of(shown(text));
  put(row, std::max(0, end - wide), text, look, std::min(wide, end));
}

void Grid::fill(int row, int column, int width, Look look) {
  for (int c = column; c < std::min(column + width, size_.columns); ++c) {
    if (row >= 0 && row < size_.rows && c >= 0) cells_[index(row, c)].look = look;
  }
}

std::string Grid::text() const {
  std::string out;
  for (int row = 0; row < size_.rows; ++row) {
    std::string line;
    for (int column = 0; column < size_.columns; ++column) line += at(row, column).text;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace trainscope
