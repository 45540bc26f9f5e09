// Pictures for papers and reports, as SVG: lines over time, and where the time went.
//
// Guarantees: the same data gives the same bytes, whatever the locale; colours are those of Okabe
// and Ito, and dashes tell lines apart without colour. A picture is 84 mm wide, one column of a
// paper, with text of 8 points, and refers to nothing outside of it. Limits: fonts are the
// reader's, so widths of text are estimates.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/finding.h"

namespace trainscope {

// Between these times a line is not joined.
struct Interruption {
  double from_s = 0, to_s = 0;
};

struct PictureLine {
  std::string name;
  std::vector<double> time_s, mean;
  std::vector<double> low, high;  // of the values that a mean is of; empty: `mean` are values
  double most_apart_s = 0;        // neighbours further apart are not joined: a gap; 0: all are
  size_t style = 0;               // colour and dash
  std::vector<Interruption> interruptions = {};  // by time
};

struct LinePicture {
  std::string title, y_name;
  std::string unit;  // UCUM, or "%" for shares that are written in percent
  std::vector<PictureLine> lines;
  double begin_s = 0, end_s = 0;
  bool from_zero = true;
  std::string note;  // under the picture: "8 of 64 series"; "": nothing
};
std::string draw(const LinePicture& picture);

struct Bar {
  std::string name;  // "": there is only one
  std::vector<BreakdownPart> parts;
};
struct BarPicture {
  std::string title;
  std::vector<Bar> bars;
};
std::string draw(const BarPicture& picture);

// A line that says why there is no picture.
std::string draw_empty(const std::string& title, const std::string& reason);

}  // namespace trainscope
