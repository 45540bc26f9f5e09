// The page of keys.
#pragma once

#include "tui/grid.h"

namespace trainscope {

void draw_help(Grid& grid, int row, bool is_of_job);

}  // namespace trainscope
