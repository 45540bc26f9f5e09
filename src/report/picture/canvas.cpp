#include "report/picture/canvas.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "report/picture/markup.h"

namespace trainscope {

namespace {

// Okabe and Ito without yellow, which a light background swallows.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<std::string_view, 5> kDashes = {"", "4 2", "1.5 1.5", "6 2 1.5 2", "8 3"};

constexpr double kCharacterWidth = 0.6 * kFontSize;

}  // namespace

LineStyle line_style(size_t index) {
  return {kColours[index % kColours.size()], kDashes[index % kDashes.size()]};
}

double text_width(std::string_view text) {
  return kCharacterWidth * static_cast<double>(display_width(text));
}

std::string fitting(std::string_view text, double width) {
  std::string safe = printable(text);
  if (text_width(safe) <= width) return safe;
  std::string cut;
  std::string_view rest = safe;
  while (!rest.empty()) {
    const std::string_view before = rest;
    (void)take_code_point(rest);
    const std::string next = cut + std::string(before.substr(0, before.size() - rest.size()));
    if (text_width(next) + kCharacterWidth > width) break;
    cut = next;
  }
  return cut + "…";
}

Canvas::Canvas(double height, std::string_view title, std::string_view description)
    : out_(fmt::format(
          R"(<svg xmlns="http://www.w3.org/2000/svg" width="84mm" height="{}mm" viewBox="0 0 {} {}" )"
          R"(font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif" font-size="{}" )"
          R"(fill="#000" role="img">)"
          "\n<title>{}</title>\n<desc>{}</desc>\n",
          coordinate(height * 84 / kPictureWidth), coordinate(kPictureWidth), coordinate(height),
          coordinate(kFontSize), escaped(title), escaped(description))) {
  rectangle(0, 0, kPictureWidth, height, "#fff");
}

void Canvas::text(double x, double y, std::string_view text, Anchor anchor, std::string_view more) {
  const char* const name = anchor == Anchor::start ? ""
                           : anchor == Anchor::end ? R"( text-anchor="end")"
                                                   : R"( text-anchor="middle")";
  out_ += fmt::format("<text x=\"{}\" y=\"{}\"{}{}{}>{}</text>\n", coordinate(x), coordinate(y),
                      name, more.empty() ? "" : " ", more, escaped(text));
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view colour, double width,
                  std::string_view dash) {
  out_ += fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
      coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2), colour, coordinate(width),
      dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

void Canvas::rectangle(double x, double y, double width, double height, std::string_view colour) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                      coordinate(x), coordinate(y), coordinate(width), coordinate(height), colour);
}

void Canvas::circle(double x, double y, double radius, std::string_view colour) {
  out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", coordinate(x),
                      coordinate(y), coordinate(radius), colour);
}

void Canvas::path(const std::string& commands, const LineStyle& style, double width) {
  out_ += fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
      "stroke-linejoin=\"round\"{}/>\n",
      commands, style.colour, coordinate(width),
      style.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", style.dash));
}

void Canvas::area(const std::string& commands, std::string_view colour, double opacity) {
  out_ += fmt::format("<path d=\"{}\" fill=\"{}\" fill-opacity=\"{}\"/>\n", commands, colour,
                      coordinate(opacity));
}

}  // namespace trainscope
