// A screen as cells: what ncurses paints and what tests read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tui/tui.h"

namespace trainscope {

// What a cell means; the terminal decides how that looks.
enum class Look {
  plain,
  dim,
  strong,
  good,
  warning,
  critical,
  plot,
  plot_of_training,
  plot_of_gpu,
  bar
};

struct Cell {
  std::string text = " ";  // one character with what combines with it; "": right half of a wide one
  Look look = Look::plain;
};

struct ScreenSize {
  int rows = 24, columns = 80;
  bool operator==(const ScreenSize&) const = default;
};

class Grid {
 public:
  Grid(ScreenSize size, Charset charset);

  // Writes text at a place, at most `width` columns of it: what does not fit ends with an ellipsis.
  // Control characters become ?, and in ASCII all that is not. Returns the column after it. What is
  // outside of the grid is left out.
  int put(int row, int column, std::string_view text, Look look = Look::plain, int width = 1 << 20);
  // The same, ending before `end`.
  void put_right(int row, int end, std::string_view text, Look look = Look::plain);
  void fill(int row, int column, int width, Look look);

  ScreenSize size() const { return size_; }
  Charset charset() const { return charset_; }
  const Cell& at(int row, int column) const { return cells_[index(row, column)]; }
  // Its rows without styles, for tests: no spaces at the end of a row.
  std::string text() const;

 private:
  size_t index(int row, int column) const {
    return static_cast<size_t>(row) * static_cast<size_t>(size_.columns) +
           static_cast<size_t>(column);
  }
  std::string shown(std::string_view text) const;

  ScreenSize size_;
  Charset charset_;
  std::vector<Cell> cells_;
};

}  // namespace trainscope
