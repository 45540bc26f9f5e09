#include "tui/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/utf8.h"
#include "tui/help.h"
#include "tui/plot.h"
#include "tui/tables.h"
#include "tui/time_axis.h"

namespace trainscope {

namespace {

constexpr double kSlowReading_s = 2;  // worth a word
constexpr int kMaxPlotRows = 4, kMaxOutputRows = 5, kMaxTextRows = 2;

// A text as lines of at most `width` columns, broken between words; the last one has the rest.
std::vector<std::string> wrapped(std::string_view text, int width, int most) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : split(text, ' ')) {
    const auto used = static_cast<int>(display_width(lines.back()) + 1 + display_width(word));
    const bool is_full = !lines.back().empty() && used > width;
    if (is_full && static_cast<int>(lines.size()) < most) {
      lines.emplace_back(word);
    } else {
      lines.back().append(lines.back().empty() ? "" : " ").append(word);
    }
  }
  return lines;
}

// "disk.operation_t… vda read": labels tell series of one metric apart, so the name is cut.
std::string fitted_label(const std::string& label, int width) {
  const size_t space = label.find(' ');
  if (static_cast<int>(display_width(label)) <= width || space == std::string::npos) return label;
  const std::string labels = label.substr(space);
  const int room = width - static_cast<int>(display_width(labels)) - 1;
  if (room < width / 3) return label;
  std::string name;
  for (std::string_view rest = std::string_view(label).substr(0, space); !rest.empty();) {
    const std::string_view before = rest;
    (void)take_code_point(rest);
    name += before.substr(0, before.size() - rest.size());
    if (static_cast<int>(display_width(name)) >= room) break;
  }
  return name + "…" + labels;
}

// Where the parts of the screen are.
struct Layout {
  ScreenSize size;
  int line = 12;  // where the text of a line begins
  int label = 12, value = 11, max = 0, plot = 0;

  Layout(ScreenSize of, const TopState& state) : size(of) {
    if (state.panel != Panel::none) {
      if (size.columns < 60) line = 10;
      label = 0;
      value = thread_columns(size.columns);
      plot = std::max(1, size.columns - value);
      return;
    }
    if (size.columns < 60) line = label = value = 10;
    if (size.columns >= 100) {
      label = 16;
      max = 16;
    }
    if (state.has_series_names() && size.columns >= 60) label = size.columns >= 100 ? 32 : 26;
    plot = std::max(1, size.columns - label - value - max);
  }
  int plot_at() const { return label + value; }
  bool is_tall() const { return size.rows >= 20; }
};

class TopDrawing {
 public:
  TopDrawing(const TopContent& content, const TopState& state, ScreenSize size, Charset charset)
      : content_(content),
        state_(state),
        layout_(size, state),
        grid_(size, charset),
        axis_(axis_of(content, state, layout_.plot)) {}

  Grid draw() {
    draw_title();
    draw_footer();
    if (state_.shows_help) {
      draw_help(grid_, layout_.is_tall() ? 2 : 1, content_.is_of_job);
      return std::move(grid_);
    }
    if (content_.snapshot == nullptr) {
      grid_.put(2, 1, "reading the run …");
      return std::move(grid_);
    }
    const int top = draw_head();
    if (layout_.size.rows <= top + 2) return std::move(grid_);
    const int bottom = draw_foot();
    if (state_.panel == Panel::none) {
      draw_plots(top, bottom);
    } else {
      draw_panel(top, bottom);
    }
    return std::move(grid_);
  }

 private:
  const TopSnapshot& run() const { return *content_.snapshot; }
  bool has_utf8() const { return grid_.charset() == Charset::utf8; }

  static TimeAxis axis_of(const TopContent& content, const TopState& state, int columns) {
    TimeAxis axis{0, state.column_s(), columns};
    if (content.snapshot == nullptr) return axis;
    const TimeWindows& read = content.snapshot->windows;
    axis.begin_s = state.follows ? std::max(0.0, read.end_s() - axis.column_s * columns)
                                 : windows_of(request_of(state, columns), 0).begin_s;
    return axis;
  }

  std::string mark_text(RunMark mark) const {
    constexpr std::array<std::string_view, 5> kSymbols = {"●", "✓", "✗", "■", "?"};
    constexpr std::array<std::string_view, 5> kAscii = {"*", "+", "x", "#", "?"};
    const auto at = static_cast<size_t>(mark);
    return std::string(has_utf8() ? kSymbols[at] : kAscii[at]);
  }

  void draw_title() {
    grid_.fill(0, 0, layout_.size.columns, Look::bar);
    const std::string right = right_title();
    grid_.put_right(0, layout_.size.columns - 1, right, Look::bar);
    const int end = layout_.size.columns - static_cast<int>(display_width(right)) - 3;
    std::string title = "trainscope top";
    if (content_.snapshot != nullptr) {
      const std::string& name = run().name.empty() ? run().id : run().name;
      title = fmt::format("{}  {} {}", printable(name), mark_text(run().mark), run().status);
    }
    grid_.put(0, 1, title, Look::bar, end);
  }

  std::string right_title() const {
    if (content_.reading_s >= kSlowReading_s) {
      return fmt::format("! reading for {:.0f} s", content_.reading_s);
    }
    const char* mode = state_.follows ? "" : "frozen ";
    if (layout_.size.columns < 60) return mode;
    return fmt::format("{}{} per column", mode, duration_text(state_.column_s()));
  }

  void draw_footer() {
    const int row = layout_.size.rows - 1;
    if (row < 2) return;
    if (state_.typed) {
      const int end =
          grid_.put(row, 0, " filter: " + *state_.typed, Look::strong, layout_.size.columns - 1);
      grid_.put(row, end, "_", Look::strong);
      return;
    }
    const char* q = content_.is_of_job ? "close" : "quit";  // the job continues
    const std::string keys =
        fmt::format(" q {}  {} scroll  +- zoom  / filter  tab component  p processes  ? help", q,
                    has_utf8() ? "←→" : "arrows");
    const std::string few = fmt::format(" q {}  / filter  tab next  ? help", q);
    grid_.put(row, 0, layout_.size.columns < 80 ? few : keys, Look::dim);
  }

  void draw_line(int row, std::string_view label, std::string_view text, Look look = Look::plain) {
    if (row < 1 || row >= layout_.size.rows - 1) return;  // the title's and the keys'
    grid_.put(row, 0, label, Look::dim, layout_.line - 1);
    grid_.put(row, layout_.line, text, look);
  }

  // The same on several lines if there is room; returns the row after them.
  int draw_text(int row, std::string_view label, const std::string& text, Look look = Look::plain) {
    const int most = layout_.is_tall() ? kMaxTextRows : 1;
    for (const auto& line : wrapped(printable(text), layout_.size.columns - layout_.line, most)) {
      draw_line(row++, label, line, look);
      label = "";
    }
    return row;
  }

  // The lines above the plots; returns the row after them.
  int draw_head() {
    int row = 1;
    if (layout_.is_tall()) draw_line(row++, "command", run().command);
    draw_line(row++, "steps", run().steps);
    const TopVerdict& verdict = content_.verdict;
    row = draw_text(row, "verdict", severity_text(verdict), severity_look(verdict.severity));
    const bool has_space = layout_.is_tall() && state_.panel == Panel::none;
    if (has_space && !verdict.advice.empty()) row = draw_text(row, "try", verdict.advice);
    return row;
  }

  static std::string severity_text(const TopVerdict& verdict) {
    constexpr std::array<std::string_view, 4> kWords = {"",
                                                        "i info: ", "! warning: ", "!! critical: "};
    return std::string(kWords[static_cast<size_t>(verdict.severity)]) + verdict.text;
  }

  static Look severity_look(Severity severity) {
    if (severity == Severity::critical) return Look::critical;
    return severity == Severity::warning ? Look::warning : Look::plain;
  }

  // The lines below the plots; returns the row of the first.
  int draw_foot() {
    int row = layout_.size.rows - 2;
    if (!run().problem.empty()) {
      draw_line(row--, "problem", "!! " + run().problem, Look::critical);
    } else {
      const bool is_faulty = run().is_recording_faulty;
      draw_line(row--, "samples", (is_faulty ? "! " : "") + run().recording,
                is_faulty ? Look::warning : Look::plain);
    }
    if (layout_.is_tall()) draw_line(row--, "job", run().job);
    return state_.panel == Panel::none ? draw_output(row) : row + 1;
  }

  // The last lines that the job printed, as many as there is room for, ending at `row`.
  int draw_output(int row) {
    const int room = std::min(kMaxOutputRows, (layout_.size.rows - 12) / 4);
    const int shown = std::min(std::max(0, room), static_cast<int>(run().output.size()));
    if (shown == 0 || layout_.size.rows < 24) return row + 1;
    for (int i = 0; i < shown; ++i) {
      const std::string& line = run().output[run().output.size() - static_cast<size_t>(shown - i)];
      draw_line(row - shown + 1 + i, i == 0 ? "output" : "", line, Look::dim);
    }
    return row - shown + 1;
  }

  void draw_plots(int top, int bottom) {
    const int axis_row = bottom - 1, room = axis_row - top;
    const auto count = static_cast<int>(run().rows.size());
    const int height = count == 0 ? 1 : std::clamp(room / count, 1, kMaxPlotRows);
    const int shown = std::clamp(room / height, 0, count);
    const int first = std::clamp(state_.first_row, 0, count - shown);
    // Lines that are left make the first plots higher.
    int left = height < kMaxPlotRows && shown == count ? room - shown * height : 0;
    for (int i = 0, row = top; i < shown; ++i) {
      const int rows = height + (left-- > 0 ? 1 : 0);
      draw_plot(row, rows, run().rows[static_cast<size_t>(first) + static_cast<size_t>(i)]);
      row += rows;
    }
    draw_axis_row(axis_row, run().left_out + static_cast<size_t>(count - first - shown));
    if (count == 0) grid_.put(top, layout_.line, run().no_rows);
  }

  // The job's processes while it runs here, and its threads as they were recorded.
  void draw_panel(int top, int bottom) {
    const TopProcesses& processes = content_.processes;
    const TableSpace space{top, bottom - 1 - top};
    if (space.rows < 2) return;
    if (state_.panel == Panel::processes && processes.are_living) {
      const size_t hidden = draw_processes(grid_, space, processes, state_.first_row);
      // If there is space for both; a filter is for one of them.
      const int below = top + static_cast<int>(processes.rows.size()) + 2;
      const bool has_space = hidden == 0 && state_.filter.empty() && bottom - 1 - below >= 2;
      const size_t cut = has_space ? draw_threads(below, bottom, 0) : 0;
      const std::string more = cut == 0 ? "" : fmt::format("  t {} more threads", cut);
      return draw_panel_name(bottom - 1, "processes" + more, hidden);
    }
    if (state_.panel == Panel::processes) {
      const std::string& reason = processes.no_rows;
      grid_.put(top++, 0, reason.empty() ? "reading the processes …" : reason);
      if (reason.empty()) return;
    }
    const size_t hidden = draw_threads(top, bottom, state_.first_row);
    draw_panel_name(bottom - 1, "threads", hidden);
  }

  void draw_panel_name(int row, std::string name, size_t hidden) {
    if (!state_.filter.empty()) name += " /" + state_.filter;
    grid_.put(row, 0, name + hidden_text(hidden), Look::strong, layout_.plot_at() - 1);
  }

  // Returns how many there are below the last one.
  size_t draw_threads(int top, int bottom, int wanted_first) {
    if (run().panel == Panel::none) return 0;  // of a view that was left
    draw_thread_headings(grid_, top++);
    const std::vector<ThreadRow>& threads = run().threads;
    const auto count = static_cast<int>(threads.size());
    const int shown = std::clamp(bottom - 1 - top, 0, count);
    const int first = std::clamp(wanted_first, 0, count - shown);
    for (int i = 0; i < shown; ++i) {
      const ThreadRow& thread = threads[static_cast<size_t>(first) + static_cast<size_t>(i)];
      draw_thread(grid_, top + i, thread);
      draw_cells(top + i, 1, thread.running, Look::plot);
    }
    if (count == 0) grid_.put(top, 2, run().no_threads);
    draw_ticks(bottom - 1);
    return static_cast<size_t>(count - first - shown);
  }

  Look look_of(const PlotRow& row) const {
    if (row.label.starts_with("GPU")) return Look::plot_of_gpu;
    const bool is_training = row.label == "step time" || row.label.starts_with("loss") ||
                             state_.component == Component::training;
    return is_training ? Look::plot_of_training : Look::plot;
  }

  void draw_plot(int at, int height, const PlotRow& row) {
    grid_.put(at, 0, fitted_label(row.label, layout_.label - 1), Look::plain, layout_.label - 1);
    grid_.put_right(at, layout_.plot_at() - 1, row.value, Look::strong);
    if (layout_.max > 0) grid_.put_right(at, layout_.size.columns, row.max, Look::dim);
    draw_cells(at, height, row, look_of(row));
  }

  void draw_cells(int at, int height, const PlotRow& row, Look look) {
    const auto cells =
        plot_columns(values_in_view(row), row.low, row.high, layout_.plot, height, grid_.charset());
    for (int r = 0; r < height; ++r) {
      for (int c = 0; c < layout_.plot; ++c) {
        const std::string& cell = cells[static_cast<size_t>(r)][static_cast<size_t>(c)];
        const bool is_gap = cell == " " && is_in_gap(c);
        if (cell == " " && !is_gap) continue;
        grid_.put(at + r, layout_.plot_at() + c, is_gap ? (has_utf8() ? "┊" : ":") : cell,
                  is_gap ? Look::dim : look);
      }
    }
  }

  // What was read, at the times of this view: the next snapshot is of the view itself.
  std::vector<std::optional<double>> values_in_view(const PlotRow& row) const {
    const TimeWindows& read = run().windows;
    const double step_s = axis_.column_s / kValuesPerColumn;
    std::vector<std::optional<double>> values;
    for (int k = 0; k < layout_.plot * kValuesPerColumn; ++k) {
      const double place = (axis_.begin_s + (k + 0.5) * step_s - read.begin_s) / read.length_s;
      const bool is_read = place >= 0 && place < static_cast<double>(row.values.size());
      values.push_back(is_read ? row.values[static_cast<size_t>(place)] : std::nullopt);
    }
    return values;
  }

  bool is_in_gap(int column) const {
    const double from_s = axis_.begin_s + axis_.column_s * column;
    return std::any_of(run().gaps.begin(), run().gaps.end(), [&](const auto& gap) {
      return gap.first < from_s + axis_.column_s && gap.second > from_s;
    });
  }

  // `hidden`: series below the last one that is shown.
  void draw_axis_row(int row, size_t hidden) {
    std::string what(component_name(state_.component));
    if (!state_.filter.empty()) what = "/" + state_.filter;
    grid_.put(row, 0, what + hidden_text(hidden), Look::strong, layout_.plot_at() - 1);
    draw_ticks(row);
  }

  std::string hidden_text(size_t hidden) const {
    return hidden == 0 ? "" : fmt::format(" {}{} more", has_utf8() ? "▼" : "v", hidden);
  }

  void draw_ticks(int row) {
    for (const AxisTick& tick : ticks_of(axis_)) {
      const auto wide = static_cast<int>(tick.text.size()) + 1;
      if (tick.column + wide > layout_.plot) break;
      grid_.put(row, layout_.plot_at() + tick.column, (has_utf8() ? "╵" : "|") + tick.text,
                Look::dim);
    }
  }

  const TopContent& content_;
  const TopState& state_;
  const Layout layout_;
  Grid grid_;
  const TimeAxis axis_;
};

}  // namespace

int plot_width(ScreenSize size, const TopState& state) { return Layout(size, state).plot; }

int rows_of(const TopSnapshot* snapshot, const TopProcesses& processes, const TopState& state) {
  if (state.panel == Panel::processes && processes.are_living) {
    return static_cast<int>(processes.rows.size());
  }
  if (snapshot == nullptr) return 0;
  const bool is_panel = state.panel != Panel::none;
  return static_cast<int>(is_panel ? snapshot->threads.size() : snapshot->rows.size());
}

Grid draw_top(const TopContent& content, const TopState& state, ScreenSize size, Charset charset) {
  return TopDrawing(content, state, size, charset).draw();
}

}  // namespace trainscope
