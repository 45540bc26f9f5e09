#include "analyze/support/confidence.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainscope {

namespace {

struct Point {
  double score, confidence;
};
// In between in proportion. Written by test/diagnosis/calibrate.py --fit.
constexpr std::array<Point, 3> kPoints = {{{0.00, 0.00}, {0.73, 0.94}, {0.93, 0.99}}};

}  // namespace

double confidence_of(double score) {
  const auto above = std::find_if(kPoints.begin(), kPoints.end(),
                                  [score](const Point& point) { return point.score >= score; });
  if (above == kPoints.begin()) return above->confidence;
  if (above == kPoints.end()) return kPoints.back().confidence;
  const Point& below = *(above - 1);
  const double place = (score - below.score) / (above->score - below.score);
  return std::lerp(below.confidence, above->confidence, place);
}

}  // namespace trainscope
