#include "tui/state.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "tui/plot.h"

namespace trainscope {

namespace {

constexpr size_t kMaxFilterBytes = 200;

double span_of(const TopState& state, const ViewBounds& bounds) {
  return state.column_s() * bounds.columns;
}

double begin_of(const TopState& state, const ViewBounds& bounds) {
  if (!state.follows) return state.begin_s;
  return windows_of(request_of(state, bounds.columns), bounds.duration_s).begin_s;
}

// Goes to a time; to the end means to follow it.
void go_to(TopState& state, double begin_s, const ViewBounds& bounds) {
  const double last_s = std::max(0.0, bounds.duration_s - span_of(state, bounds));
  state.follows = begin_s >= last_s && begin_s > begin_of(state, bounds);
  state.begin_s = std::clamp(begin_s, 0.0, last_s);
}

void zoom_by(TopState& state, int steps, const ViewBounds& bounds) {
  const double middle_s = begin_of(state, bounds) + span_of(state, bounds) / 2;
  state.zoom = std::clamp(state.zoom + steps, 0, kZoomStepCount - 1);
  if (state.follows) return;
  const double last_s = std::max(0.0, bounds.duration_s - span_of(state, bounds));
  state.begin_s = std::clamp(middle_s - span_of(state, bounds) / 2, 0.0, last_s);
}

void show_all(TopState& state, const ViewBounds& bounds) {
  state.zoom = 0;
  while (state.zoom + 1 < kZoomStepCount && span_of(state, bounds) < bounds.duration_s) {
    ++state.zoom;
  }
  state.follows = true;
}

void toggle_freeze(TopState& state, const ViewBounds& bounds) {
  state.begin_s = begin_of(state, bounds);
  state.follows = !state.follows;
}

void step_component(TopState& state, int by) {
  const int next = (static_cast<int>(state.component) + by + kComponents) % kComponents;
  state.component = static_cast<Component>(next);
  state.panel = Panel::none;
  state.filter.clear();
  state.first_row = 0;
}

void toggle_panel(TopState& state, Panel panel) {
  state.panel = state.panel == panel ? Panel::none : panel;
  state.filter.clear();
  state.first_row = 0;
}

// Takes back what is nearest: help, then the filter, then the panel.
void step_back(TopState& state) {
  if (state.shows_help) {
    state.shows_help = false;
  } else if (!state.filter.empty()) {
    state.filter.clear();
    state.first_row = 0;
  } else if (state.panel != Panel::none) {
    toggle_panel(state, state.panel);
  }
}

void remove_last_character(std::string& text) {
  size_t end = 0;
  for (std::string_view rest = text; !rest.empty();) {
    end = text.size() - rest.size();
    (void)take_code_point(rest);
  }
  text.resize(end);
}

// While a filter is typed, keys are its text.
void type_key(TopState& state, const Key& key) {
  std::string& typed = *state.typed;
  switch (key.kind) {
    case KeyKind::character:
      if (typed.size() + key.text.size() <= kMaxFilterBytes) typed += key.text;
      return;
    case KeyKind::backspace:
      if (typed.empty()) {
        state.typed.reset();
      } else {
        remove_last_character(typed);
      }
      return;
    case KeyKind::enter:
      state.filter = typed;
      state.first_row = 0;
      state.typed.reset();
      return;
    case KeyKind::escape:
      state.typed.reset();
      return;
    default:
      return;
  }
}

void apply_character(TopState& state, const std::string& text, const ViewBounds& bounds) {
  if (text == "q" || text == "Q") {
    state.is_over = !state.shows_help;
    state.shows_help = false;
  } else if (text == "?" || text == "h") {
    state.shows_help = !state.shows_help;
  } else if (text == " ") {
    toggle_freeze(state, bounds);
  } else if (text == "p") {
    toggle_panel(state, Panel::processes);
  } else if (text == "t") {
    toggle_panel(state, Panel::threads);
  } else if (text == "/") {
    state.typed = state.filter;
  } else if (text == "+" || text == "=") {
    zoom_by(state, -1, bounds);
  } else if (text == "-" || text == "_") {
    zoom_by(state, 1, bounds);
  } else if (text == "0") {
    show_all(state, bounds);
  }
}

}  // namespace

std::string_view component_name(Component component) {
  constexpr std::string_view kNames[kComponents] = {"overview", "training", "processor", "memory",
                                                    "disk",     "network",  "GPU",       "job"};
  return kNames[static_cast<int>(component)];
}

void begin_view(TopState& state, bool is_running, const ViewBounds& bounds) {
  if (is_running) {
    state.zoom = kLiveZoom;
    state.follows = true;
  } else {
    show_all(state, bounds);
  }
}

void apply_key(TopState& state, const Key& key, const ViewBounds& bounds) {
  if (state.typed) return type_key(state, key);
  const double begin_s = begin_of(state, bounds), span_s = span_of(state, bounds);
  switch (key.kind) {
    case KeyKind::left:
      return go_to(state, begin_s - span_s / 8, bounds);
    case KeyKind::right:
      return go_to(state, begin_s + span_s / 8, bounds);
    case KeyKind::page_up:
      return go_to(state, begin_s - span_s, bounds);
    case KeyKind::page_down:
      return go_to(state, begin_s + span_s, bounds);
    case KeyKind::home:
      state.follows = false;
      state.begin_s = 0;
      return;
    case KeyKind::end:
      state.follows = true;
      return;
    case KeyKind::up:
      state.first_row = std::max(0, state.first_row - 1);
      return;
    case KeyKind::down:
      state.first_row = std::clamp(state.first_row + 1, 0, std::max(0, bounds.rows - 1));
      return;
    case KeyKind::tab:
      return step_component(state, 1);
    case KeyKind::back_tab:
      return step_component(state, -1);
    case KeyKind::escape:
      return step_back(state);
    case KeyKind::character:
      return apply_character(state, key.text, bounds);
    default:
      return;
  }
}

ViewRequest request_of(const TopState& state, int columns) {
  ViewRequest request;
  request.follows = state.follows;
  request.begin_s = state.follows ? 0 : state.begin_s;
  request.window_s = state.column_s() / kValuesPerColumn;
  request.windows = static_cast<size_t>(std::max(1, columns)) * kValuesPerColumn;
  request.component = state.component;
  request.filter = state.filter;
  request.panel = state.panel;
  return request;
}

ProcessRequest processes_of(const TopState& state) {
  if (state.panel != Panel::processes) return {};
  return {true, state.filter};
}

TimeWindows windows_of(const ViewRequest& request, double duration_s) {
  TimeWindows windows;
  windows.length_s = request.window_s;
  windows.count = std::max<size_t>(1, request.windows);
  double first = std::floor(request.begin_s / request.window_s);
  if (request.follows) {
    first = std::floor(duration_s / request.window_s) + 1 - static_cast<double>(windows.count);
  }
  windows.begin_s = std::max(0.0, first) * request.window_s;
  return windows;
}

}  // namespace trainscope
