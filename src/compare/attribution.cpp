// Where the difference in step time comes from: the breakdown of both sides, per step.
//
// Checkpoints and evaluations are listed, but they are no part of the step time and have no share
// of the difference. Of several runs it is the mean over runs.
#include <algorithm>
#include <cmath>
#include <set>

#include "compare/sides.h"

namespace trainscope {

namespace {

bool is_pause(const std::string& part) { return part == "checkpoint" || part == "evaluation"; }

double mean_part(const std::vector<ObservedRun>& runs, const std::string& part) {
  double sum = 0;
  for (const ObservedRun& run : runs) {
    const auto found = run.parts_s.find(part);
    if (found != run.parts_s.end()) sum += found->second;
  }
  return sum / static_cast<double>(runs.size());
}

}  // namespace

std::vector<AttributedPart> attribute_difference(const Sides& sides) {
  std::set<std::string> names;
  for (const auto* runs : {&sides.a, &sides.b}) {
    for (const ObservedRun& run : *runs) {
      if (run.parts_s.empty()) return {};
      for (const auto& [name, time_s] : run.parts_s) names.insert(name);
    }
  }
  std::vector<AttributedPart> parts;
  double whole_s = 0;
  for (const std::string& name : names) {
    const double a_s = mean_part(sides.a, name), b_s = mean_part(sides.b, name);
    parts.push_back({name, a_s, b_s, b_s - a_s, std::nullopt});
    if (!is_pause(name)) whole_s += b_s - a_s;
  }
  for (AttributedPart& part : parts) {
    if (whole_s != 0 && !is_pause(part.part)) part.share = part.difference_s / whole_s;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& x, const auto& y) {
    return std::abs(x.difference_s) > std::abs(y.difference_s);
  });
  return parts;
}

}  // namespace trainscope
