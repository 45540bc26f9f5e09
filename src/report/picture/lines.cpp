// Lines over time: the mean of each window, with a band from its minimum to its maximum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"
#include "report/picture/axis.h"
#include "report/picture/canvas.h"
#include "report/picture/markup.h"
#include "report/picture/picture.h"

namespace trainscope {

namespace {

constexpr double kPlotHeight = 92, kMargin = 3, kBandOpacity = 0.22;
constexpr std::string_view kGrid = "#ddd", kFrame = "#777";

// Where the lines are drawn.
struct PlotArea {
  double left = 0, top = 0, width = 0, height = 0;
  Axis x, y;

  double at_x(double time_s) const { return left + width * (time_s - x.low) / (x.high - x.low); }
  double at_y(double value) const {
    const double share = std::clamp((value - y.low) / (y.high - y.low), 0.0, 1.0);
    return top + height * (1 - share);
  }
};

// The entries of the legend in rows.
std::vector<std::vector<size_t>> legend_rows(const std::vector<PictureLine>& lines, double width) {
  std::vector<std::vector<size_t>> rows;
  double used = width + 1;
  for (size_t i = 0; i < lines.size(); ++i) {
    const double needed = 22 + text_width(lines[i].name);
    if (used + needed > width) {
      rows.emplace_back();
      used = 0;
    }
    rows.back().push_back(i);
    used += needed;
  }
  return rows;
}

void draw_legend(Canvas& canvas, const LinePicture& picture,
                 const std::vector<std::vector<size_t>>& rows, double top) {
  double y = top;
  for (const auto& row : rows) {
    double x = kMargin;
    for (const size_t i : row) {
      const LineStyle style = line_style(picture.lines[i].style);
      canvas.line(x, y - 2.7, x + 14, y - 2.7, style.colour, 1.2, style.dash);
      canvas.text(x + 16, y, fitting(picture.lines[i].name, kPictureWidth - x - 16 - kMargin));
      x += 22 + text_width(picture.lines[i].name);
    }
    y += kLineHeight;
  }
}

// "throughput (MiB/s)": where there is too little room, the name is cut, not the unit.
std::string axis_title(const std::string& name, const std::string& unit, double room) {
  if (unit.empty()) return fitting(name, room);
  const std::string ending = fmt::format(" ({})", unit);
  return fitting(name, room - text_width(ending)) + ending;
}

void draw_axes(Canvas& canvas, const PlotArea& plot, const LinePicture& picture) {
  const double bottom = plot.top + plot.height, right = plot.left + plot.width;
  for (const Tick& tick : plot.y.ticks) {
    const double y = plot.at_y(tick.value);
    canvas.line(plot.left, y, right, y, kGrid, 0.5);
    canvas.text(plot.left - 3, y + 2.8, tick.text, Anchor::end);
  }
  for (const Tick& tick : plot.x.ticks) {
    const double x = plot.at_x(tick.value);
    canvas.line(x, bottom, x, bottom + 2.5, kFrame, 0.5);
    canvas.text(x, bottom + kLineHeight, tick.text, Anchor::middle);
  }
  canvas.line(plot.left, bottom, right, bottom, kFrame, 0.75);
  canvas.line(plot.left, plot.top, plot.left, bottom, kFrame, 0.75);
  canvas.text(plot.left + plot.width / 2, bottom + 2 * kLineHeight,
              fmt::format("time ({})", plot.x.unit), Anchor::middle);
  const double middle = plot.top + plot.height / 2;
  canvas.text(
      kFontSize, middle, axis_title(picture.y_name, plot.y.unit, plot.height + 20), Anchor::middle,
      fmt::format("transform=\"rotate(-90 {} {})\"", coordinate(kFontSize), coordinate(middle)));
}

// The points of a line in parts without a gap, each from one place to the place after its last.
std::vector<std::pair<size_t, size_t>> joined_parts(const PictureLine& line) {
  std::vector<std::pair<size_t, size_t>> parts;
  auto next = line.interruptions.begin();
  const auto is_interrupted = [&](double before_s, double after_s) {
    while (next != line.interruptions.end() && next->to_s <= before_s) ++next;
    return next != line.interruptions.end() && next->from_s < after_s;
  };
  for (size_t i = 0; i < line.time_s.size(); ++i) {
    const double apart_s = i > 0 ? line.time_s[i] - line.time_s[i - 1] : 0;
    const bool is_apart = line.most_apart_s > 0 && apart_s > line.most_apart_s;
    if (i == 0 || is_apart || is_interrupted(line.time_s[i - 1], line.time_s[i])) {
      parts.emplace_back(i, i);
    }
    parts.back().second = i + 1;
  }
  return parts;
}

std::string band_path(const PictureLine& line, const PlotArea& plot, size_t from, size_t to) {
  std::string commands;
  for (size_t i = from; i < to; ++i) {
    commands += fmt::format("{}{} {}", i == from ? "M" : "L", coordinate(plot.at_x(line.time_s[i])),
                            coordinate(plot.at_y(line.high[i])));
  }
  for (size_t i = to; i-- > from;) {
    commands += fmt::format("L{} {}", coordinate(plot.at_x(line.time_s[i])),
                            coordinate(plot.at_y(line.low[i])));
  }
  return commands + "Z";
}

void draw_line(Canvas& canvas, const PictureLine& line, const PlotArea& plot) {
  const LineStyle style = line_style(line.style);
  std::string commands;
  for (const auto& [from, to] : joined_parts(line)) {
    if (to - from == 1) {
      canvas.circle(plot.at_x(line.time_s[from]), plot.at_y(line.mean[from]), 1.1, style.colour);
      continue;
    }
    for (size_t i = from; i < to; ++i) {
      commands +=
          fmt::format("{}{} {}", i == from ? "M" : "L", coordinate(plot.at_x(line.time_s[i])),
                      coordinate(plot.at_y(line.mean[i])));
    }
  }
  if (!commands.empty()) canvas.path(commands, style, 1);
}

std::pair<double, double> value_range(const LinePicture& picture) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const PictureLine& line : picture.lines) {
    for (const auto* values : {&line.mean, &line.low, &line.high}) {
      for (const double value : *values) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
  }
  return low <= high ? std::pair(low, high) : std::pair(0.0, 1.0);
}

// "step time over 20.3 s; step time: mean 12 ms, from 8 to 31"
std::string description_of(const LinePicture& picture, const Axis& y) {
  std::string text =
      fmt::format("{} over {}", picture.title, duration_text(picture.end_s - picture.begin_s));
  for (const PictureLine& line : picture.lines) {
    const auto [low, high] = std::minmax_element(line.mean.begin(), line.mean.end());
    if (low == line.mean.end()) continue;
    const double factor = y.unit == "%" ? 100 : 1;
    text += fmt::format("; {}: from {} to {}{}", line.name, number_text(*low * factor),
                        number_text(*high * factor), y.unit == "%" ? " %" : "");
  }
  return text;
}

}  // namespace

std::string draw(const LinePicture& picture) {
  const auto [low, high] = value_range(picture);
  PlotArea plot;
  plot.y = value_axis(low, high, picture.unit, picture.from_zero);
  plot.x = time_axis(picture.begin_s, picture.end_s);
  double label_width = 0;
  for (const Tick& tick : plot.y.ticks) label_width = std::max(label_width, text_width(tick.text));
  const auto rows = legend_rows(picture.lines, kPictureWidth - 2 * kMargin);
  plot.left = kMargin + kLineHeight + label_width + 3;
  plot.width = kPictureWidth - plot.left - 8;
  plot.top = kLineHeight * (1 + static_cast<double>(rows.size())) + 6;
  plot.height = kPlotHeight;
  const double notes = picture.note.empty() ? 0 : kLineHeight;
  Canvas canvas(plot.top + plot.height + 2 * kLineHeight + notes + 4, picture.title,
                description_of(picture, plot.y));
  canvas.text(kMargin, kLineHeight - 1, fitting(picture.title, kPictureWidth - 2 * kMargin),
              Anchor::start, R"(font-weight="bold")");
  draw_legend(canvas, picture, rows, 2 * kLineHeight - 1);
  draw_axes(canvas, plot, picture);
  for (const PictureLine& line : picture.lines) {
    if (line.low.empty()) continue;
    for (const auto& [from, to] : joined_parts(line)) {
      canvas.area(band_path(line, plot, from, to), line_style(line.style).colour, kBandOpacity);
    }
  }
  for (const PictureLine& line : picture.lines) draw_line(canvas, line, plot);
  if (notes > 0) {
    canvas.text(kMargin, plot.top + plot.height + 3 * kLineHeight,
                fitting(picture.note, kPictureWidth - 2 * kMargin), Anchor::start,
                R"(fill="#555")");
  }
  return canvas.finish();
}

}  // namespace trainscope
