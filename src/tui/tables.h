// The processes of a job, and where the time of its threads went, as lines of a screen.
#pragma once

#include "tui/grid.h"
#include "tui/tui.h"

namespace trainscope {

// Some lines of a screen.
struct TableSpace {
  int row = 0, rows = 0;
};

// A line of headings and as many processes as fit, from this one on. Returns how many did not fit
// below.
size_t draw_processes(Grid& grid, TableSpace space, const TopProcesses& processes, int first);

// Columns that the numbers of threads take, with the role; after them a plot has space.
int thread_columns(int columns);
void draw_thread_headings(Grid& grid, int row);
void draw_thread(Grid& grid, int row, const ThreadRow& thread);

}  // namespace trainscope
