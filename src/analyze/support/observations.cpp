#include "analyze/support/observations.h"

#include <algorithm>

namespace trainscope {

double Observations::degree(std::string what, std::optional<double> value, double low,
                            double high) {
  const double degree = value ? std::clamp((*value - low) / (high - low), 0.0, 1.0) : 0;
  seen_.push_back({std::move(what), value, low, high, degree, {}, {}});
  return degree;
}

double Observations::share_degree(std::string what, std::optional<double> share, double low,
                                  double high) {
  const double found = degree(std::move(what), share, low, high);
  last_seen().unit = "%";
  return found;
}

}  // namespace trainscope
