// The elements that pictures consist of. A unit is a point of the paper.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

inline constexpr double kPictureWidth = 238;  // 84 mm
inline constexpr double kFontSize = 8;
inline constexpr double kLineHeight = 11;

struct LineStyle {
  std::string_view colour, dash;  // dash "": solid
};
// Repeats when there are more lines than styles.
LineStyle line_style(size_t index);

// Columns of text that fit into a width, by the widest of the usual fonts.
double text_width(std::string_view text);
// Cut to a width, with an ellipsis.
std::string fitting(std::string_view text, double width);

enum class Anchor { start, middle, end };

class Canvas {
 public:
  // `description` is for readers that do not see the picture.
  Canvas(double height, std::string_view title, std::string_view description);

  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::start,
            std::string_view more = "");
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width,
            std::string_view dash = "");
  void rectangle(double x, double y, double width, double height, std::string_view colour);
  void circle(double x, double y, double radius, std::string_view colour);
  // `commands` of an SVG path; no fill.
  void path(const std::string& commands, const LineStyle& style, double width);
  void area(const std::string& commands, std::string_view colour, double opacity);

  std::string finish() const { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

}  // namespace trainscope
