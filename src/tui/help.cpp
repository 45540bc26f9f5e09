#include "tui/help.h"

#include <utility>

namespace trainscope {

namespace {

constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
    {"left, right", "scroll in time"},
    {"PgUp, PgDn", "scroll by a screen"},
    {"Home, End", "go to the begin; to the end, and follow it"},
    {"+, -, 0", "zoom in, zoom out, show the whole run"},
    {"space", "freeze, or follow the run again"},
    {"up, down", "scroll through the plots or processes"},
    {"tab", "next component: training, processor, memory, …"},
    {"p", "processes of the job now; the plots again"},
    {"t", "threads that matter: running, waiting for a CPU, blocked"},
    {"/", "show the series or processes that contain these words"},
    {"escape", "remove the filter; back to the plots"},
    {"?", "close this page"},
};

}  // namespace

void draw_help(Grid& grid, int row, bool is_of_job) {
  const bool has_spaces = grid.size().rows >= 20;
  for (const auto& [key, meaning] : kKeys) {
    grid.put(row, 2, key, Look::strong);
    grid.put(row++, 15, meaning);
  }
  grid.put(row, 2, "q", Look::strong);
  grid.put(row++, 15,
           is_of_job ? "close the screen; the job continues" : "quit; nothing is changed");
  if (!has_spaces) return;
  grid.put(++row, 2, "A plot shows the mean of each part of the time axis. The value next to it is",
           Look::dim);
  grid.put(++row, 2, "the last one in view. An empty column has no value; ┊ is a gap in recording.",
           Look::dim);
}

}  // namespace trainscope
