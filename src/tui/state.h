// What the user chose to see, and how keys change it. Pure functions.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tui/tui.h"

namespace trainscope {

enum class KeyKind {
  character,  // anything that is text, the space too
  left,
  right,
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  tab,
  back_tab,
  enter,
  escape,
  backspace,
};
struct Key {
  KeyKind kind = KeyKind::character;
  std::string text = {};  // of a character
};

// Seconds per column of the screen: near enough to each other that a whole run takes at least half
// of it.
inline constexpr double kZoomSteps[] = {
    0.1,  0.15, 0.2,  0.3,  0.5,  0.7,   1,     1.5,   2,     3,     5,     7,    10,
    15,   20,   30,   45,   60,   90,    120,   180,   300,   450,   600,   900,  1200,
    1800, 2700, 3600, 5400, 7200, 10800, 14400, 21600, 32400, 43200, 57600, 86400};
inline constexpr int kZoomStepCount = static_cast<int>(std::size(kZoomSteps));
inline constexpr int kLiveZoom = 6;  // one second per column

struct TopState {
  int zoom = kLiveZoom;
  bool follows = true;
  double begin_s = 0;  // of the view; not used while it follows
  Component component = Component::overview;
  Panel panel = Panel::none;
  std::string filter;
  std::optional<std::string> typed;  // the filter that is being typed
  bool shows_help = false;
  int first_row = 0;  // of the plots
  bool is_over = false;

  double column_s() const { return kZoomSteps[zoom]; }
  bool has_series_names() const { return component != Component::overview || !filter.empty(); }
};

// What the view is of, as far as keys depend on it.
struct ViewBounds {
  double duration_s = 0;
  int columns = 1;  // of the plots
  int rows = 0;     // plots or lines of the panel that there are
};

// For a run that is seen first: its last minute or so while it is recorded, otherwise all of it.
void begin_view(TopState& state, bool is_running, const ViewBounds& bounds);
void apply_key(TopState& state, const Key& key, const ViewBounds& bounds);
ViewRequest request_of(const TopState& state, int columns);
ProcessRequest processes_of(const TopState& state);

}  // namespace trainscope
