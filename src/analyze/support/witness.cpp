#include <algorithm>

#include "analyze/support/rule.h"

namespace trainscope {

double Witness::degree(Signal signal, double low, double high) {
  return degree(std::string(signal_spec(signal).name), evidence_.mean(signal), low, high);
}

double Witness::degree(std::string what, std::optional<double> value, double low, double high) {
  const double degree = value ? std::clamp((*value - low) / (high - low), 0.0, 1.0) : 0;
  seen_.push_back({std::move(what), value, low, high, degree});
  return degree;
}

double Witness::input_wait() {
  const auto share = evidence_.share("input");
  if (!share || !evidence_.has_phases()) return 0;
  return degree("input wait of step time", share, 0.05, 0.22);
}

double Witness::checkpoints() {
  const auto share = evidence_.share("checkpoint");
  return share ? degree("checkpoints of step time", share, 0.05, 0.2) : 0;
}

}  // namespace trainscope
