// The screen of a run as a grid: a pure function, tested without a terminal.
#pragma once

#include "tui/grid.h"
#include "tui/state.h"
#include "tui/tui.h"

namespace trainscope {

struct TopContent {
  const TopSnapshot* snapshot = nullptr;  // null: the first one is being read
  TopVerdict verdict;
  double reading_s = 0;  // for how long the newest snapshot has been read; 0: it is not
  bool is_of_job = false;
  TopProcesses processes = {};
};

Grid draw_top(const TopContent& content, const TopState& state, ScreenSize size, Charset charset);
// Columns of the plots on such a screen; names of series take more room than those of components.
int plot_width(ScreenSize size, const TopState& state);
// Lines of the plots or of the panel that there are; the snapshot may be null.
int rows_of(const TopSnapshot* snapshot, const TopProcesses& processes, const TopState& state);

}  // namespace trainscope
