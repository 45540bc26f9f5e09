#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

double Witness::degree(Signal signal, double low, double high) {
  return degree(std::string(signal_spec(signal).name), evidence_.mean(signal), low, high);
}

double Witness::degree(std::string what, std::optional<double> value, double low, double high) {
  const double degree = value ? std::clamp((*value - low) / (high - low), 0.0, 1.0) : 0;
  seen_.push_back({std::move(what), value, low, high, degree});
  return degree;
}

std::string signal_text(Signal signal, double value) {
  const SignalSpec& spec = signal_spec(signal);
  if (spec.unit == "share") return fmt::format("{} {:.0f} %", spec.name, 100 * value);
  if (spec.unit == "bytes/s") return fmt::format("{} {}/s", spec.name, bytes_text(value));
  if (spec.unit == "bytes") return fmt::format("{} {}", spec.name, bytes_text(value));
  if (spec.unit == "1/s") return fmt::format("{} {}/s", spec.name, count_text(value));
  return fmt::format("{} {} {}", spec.name, number_text(value), spec.unit);
}

}  // namespace trainscope
