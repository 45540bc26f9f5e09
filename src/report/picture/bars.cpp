// Where the time went: one bar per run, divided into parts, and their names with numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "report/picture/canvas.h"
#include "report/picture/picture.h"

namespace trainscope {

namespace {

constexpr double kBarHeight = 14, kSide = 3, kMostNameWidth = 96;

struct PartColour {
  std::string_view part, colour;
};
// The same part has the same colour in every picture.
constexpr std::array<PartColour, 13> kPartColours = {{{"input wait", "#d55e00"},
                                                      {"input", "#d55e00"},
                                                      {"host work", "#0072b2"},
                                                      {"compute", "#0072b2"},
                                                      {"device compute", "#009e73"},
                                                      {"transfer", "#f0e442"},
                                                      {"communication", "#56b4e9"},
                                                      {"checkpoint", "#cc79a7"},
                                                      {"evaluation", "#e69f00"},
                                                      {"start-up", "#999999"},
                                                      {"warmup", "#999999"},
                                                      {"idle", "#cccccc"},
                                                      {"unexplained", "#e8e8e8"}}};

std::string_view part_colour(std::string_view part) {
  for (const PartColour& one : kPartColours) {
    if (one.part == part) return one.colour;
  }
  return "#000000";
}

std::string share_text(double share) {
  if (share > 0 && share < 0.005) return "<1 %";
  return fmt::format("{:.0f} %", 100 * share);
}

// Every part of any bar once, in their order.
std::vector<std::string> part_names(const std::vector<Bar>& bars) {
  std::vector<std::string> names;
  for (const Bar& bar : bars) {
    for (const BreakdownPart& part : bar.parts) {
      if (std::find(names.begin(), names.end(), part.part) == names.end()) {
        names.push_back(part.part);
      }
    }
  }
  return names;
}

// "62 %", or "62 % → 8 %" of two bars.
std::string shares_text(const std::vector<Bar>& bars, const std::string& name) {
  std::string text;
  for (const Bar& bar : bars) {
    double share = 0;
    for (const BreakdownPart& part : bar.parts) share += part.part == name ? part.share : 0;
    text += (text.empty() ? "" : " → ") + share_text(share);
  }
  return text;
}

void draw_bar(Canvas& canvas, const Bar& bar, double left, double top) {
  const double width = kPictureWidth - left - kSide;
  double from = 0;
  for (const BreakdownPart& part : bar.parts) {
    const double share = std::clamp(part.share, 0.0, 1 - std::min(from, 1.0));
    canvas.rectangle(left + width * from, top, width * share, kBarHeight, part_colour(part.part));
    from += share;
    if (from < 0.999) {
      // A white line between parts tells them apart without colour.
      const double x = left + width * from;
      canvas.line(x, top, x, top + kBarHeight, "#fff", 0.8);
    }
  }
  canvas.line(left, top, left + width, top, "#777", 0.5);
  canvas.line(left, top + kBarHeight, left + width, top + kBarHeight, "#777", 0.5);
}

}  // namespace

std::string draw(const BarPicture& picture) {
  const std::vector<std::string> names = part_names(picture.bars);
  double left = kSide;
  for (const Bar& bar : picture.bars) {
    if (!bar.name.empty())
      left = std::max(left, std::min(kMostNameWidth, text_width(bar.name)) + 2 * kSide);
  }
  const double bars_top = kLineHeight + 4;
  const double legend_top =
      bars_top + (kBarHeight + 4) * static_cast<double>(picture.bars.size()) + kLineHeight;
  std::string description = picture.title;
  for (const std::string& name : names) {
    description += "; " + name + " " + shares_text(picture.bars, name);
  }
  Canvas canvas(legend_top + kLineHeight * static_cast<double>(names.size()), picture.title,
                description);
  canvas.text(kSide, kLineHeight - 1, fitting(picture.title, kPictureWidth - 2 * kSide),
              Anchor::start, R"(font-weight="bold")");
  double y = bars_top;
  for (const Bar& bar : picture.bars) {
    if (!bar.name.empty()) canvas.text(kSide, y + 10, fitting(bar.name, left - 2 * kSide));
    draw_bar(canvas, bar, left, y);
    y += kBarHeight + 4;
  }
  y = legend_top;
  for (const std::string& name : names) {
    canvas.rectangle(kSide, y - 7, 8, 8, part_colour(name));
    canvas.line(kSide, y + 1, kSide + 8, y + 1, "#777", 0.5);
    canvas.text(kSide + 12, y, fitting(name, 120));
    canvas.text(kPictureWidth - kSide, y, shares_text(picture.bars, name), Anchor::end);
    y += kLineHeight;
  }
  return canvas.finish();
}

std::string draw_empty(const std::string& title, const std::string& reason) {
  Canvas canvas(3 * kLineHeight, title, reason);
  canvas.text(kSide, kLineHeight - 1, fitting(title, kPictureWidth - 2 * kSide), Anchor::start,
              R"(font-weight="bold")");
  canvas.text(kSide, 2 * kLineHeight + 2, fitting(reason, kPictureWidth - 2 * kSide));
  return canvas.finish();
}

}  // namespace trainscope
