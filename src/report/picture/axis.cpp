#include "report/picture/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace trainscope {

namespace {

// How numbers of a unit are written: data / factor.
struct AxisUnit {
  double factor = 1;
  std::string text;
};

struct Prefix {
  double factor;
  const char* text;
};
constexpr std::array<Prefix, 5> kBinary = {{{1024.0 * 1024 * 1024 * 1024, "TiB"},
                                            {1024.0 * 1024 * 1024, "GiB"},
                                            {1024.0 * 1024, "MiB"},
                                            {1024, "KiB"},
                                            {1, "B"}}};
constexpr std::array<Prefix, 4> kSeconds = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
constexpr std::array<Prefix, 5> kDecimal = {
    {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};

// The largest prefix that leaves a number of 1 or more.
Prefix prefix_of(double size, std::span<const Prefix> prefixes) {
  for (const Prefix& prefix : prefixes) {
    if (size >= prefix.factor) return prefix;
  }
  return prefixes.back();
}

// "{step}" and "1" are not written.
std::string plain_unit(std::string_view unit) {
  if (unit.ends_with("/s")) return plain_unit(unit.substr(0, unit.size() - 2)) + "/s";
  if (unit == "1" || unit.starts_with('{')) return "";
  return unit == "Cel" ? "°C" : std::string(unit);
}

AxisUnit unit_for(double size, std::string_view unit) {
  if (unit == "%") return {0.01, "%"};
  if (unit == "s") {
    const Prefix prefix = prefix_of(size, kSeconds);
    return {prefix.factor, prefix.text};
  }
  if (unit == "By" || unit == "By/s") {
    const Prefix prefix = prefix_of(size, kBinary);
    return {prefix.factor, prefix.text + std::string(unit.substr(2))};
  }
  const Prefix prefix = size < 1e4 ? kDecimal.back() : prefix_of(size, kDecimal);
  return {prefix.factor, prefix.text + plain_unit(unit)};
}

// The smallest of 1, 2, 5, 10, 20, … that is no smaller.
double nice_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

int decimals_of(double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
}

std::string tick_text(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos ? "0" : text;
}

constexpr double kMostValueSteps = 5, kMostTimeSteps = 5;

}  // namespace

Axis value_axis(double low, double high, std::string_view unit, bool from_zero) {
  // The clocks of the machine and of the job differ by so much: what is a bit more than all is all.
  constexpr double kAllAtMost = 1.05;
  if (unit == "%" && high <= kAllAtMost) high = std::min(high, 1.0);
  if (from_zero && low > 0) low = 0;
  if (from_zero && high < 0) high = 0;
  const double size = std::max(std::abs(low), std::abs(high));
  if (!(high > low)) high = low + (size > 0 ? size * 0.5 : 1);
  const AxisUnit shown = unit_for(std::max(std::abs(low), std::abs(high)), unit);
  const double step = nice_step((high - low) / shown.factor / kMostValueSteps);
  const double first = std::floor(low / shown.factor / step + 1e-9);
  const double last = std::ceil(high / shown.factor / step - 1e-9);
  Axis axis{first * step * shown.factor, last * step * shown.factor, {}, shown.text};
  for (double k = first; k <= last; ++k) {
    axis.ticks.push_back({k * step * shown.factor, tick_text(k * step, decimals_of(step))});
  }
  return axis;
}

Axis time_axis(double begin_s, double end_s) {
  struct TimeUnit {
    double seconds;
    const char* text;
    std::array<double, 7> steps;  // as clocks have them; beyond them 1, 2 and 5 times powers of ten
  };
  static constexpr std::array<TimeUnit, 4> kUnits = {{{86400, "d", {1, 2, 7, 14, 28}},
                                                      {3600, "h", {1, 2, 3, 6, 12, 24}},
                                                      {60, "min", {1, 2, 5, 10, 15, 30, 60}},
                                                      {1, "s", {1, 2, 5, 10, 15, 30, 60}}}};
  if (!(end_s > begin_s)) end_s = begin_s + 1;
  const double span_s = end_s - begin_s;
  const auto* unit = &kUnits.back();
  for (const auto& one : kUnits) {
    if (span_s >= 2.5 * one.seconds) {
      unit = &one;
      break;
    }
  }
  const double least = span_s / unit->seconds / kMostTimeSteps;
  const auto known = std::find_if(unit->steps.begin(), unit->steps.end(),
                                  [&](double step) { return step >= least * (1 - 1e-9); });
  const bool is_known = least > 0.5 && known != unit->steps.end();
  const double step = is_known ? *known : nice_step(least);
  Axis axis{begin_s, end_s, {}, unit->text};
  for (double k = std::ceil(begin_s / unit->seconds / step - 1e-9);
       k * step * unit->seconds <= end_s * (1 + 1e-9); ++k) {
    axis.ticks.push_back({k * step * unit->seconds, tick_text(k * step, decimals_of(step))});
  }
  return axis;
}

}  // namespace trainscope
