// What makes energy and cost of a comparison misleading, or why there are none.
#include <fmt/format.h>

#include <algorithm>

#include "compare/sides.h"

namespace trainscope {

namespace {

constexpr std::string_view kPriceRemedy = "try trainscope edit RUN --tag 'price=2.49 EUR'";

// "the price 'cheap' cannot be read", or "" if there is none like that.
std::string unread_price(const Sides& sides) {
  for (const auto* runs : {&sides.a, &sides.b}) {
    for (const ObservedRun& run : *runs) {
      if (run.facts.unread_price.empty()) continue;
      return fmt::format("the price '{}' cannot be read, so costs are not compared; {}",
                         run.facts.unread_price, kPriceRemedy);
    }
  }
  return "";
}

}  // namespace

// Energy per step of a GPU that the job does not use is that of idling.
std::string warn_of_idle_energy(const Sides& sides, const Comparison& comparison) {
  if (!comparison.energy || comparison.energy_of != "GPU") return "";
  const auto uses_one = [](const ObservedRun& run) {
    return std::any_of(run.metrics.begin(), run.metrics.end(), [&](const ObservedMetric& metric) {
      return metric.name.starts_with("hw.gpu.") && run.uses_gpu(metric.label("gpu"));
    });
  };
  for (const auto* runs : {&sides.a, &sides.b}) {
    if (std::all_of(runs->begin(), runs->end(), uses_one)) continue;
    return fmt::format("the job of {} uses no GPU: its energy per step is that of an idle GPU",
                       runs == &sides.a ? "A" : "B");
  }
  return "";
}

std::string warn_of_prices(const Sides& sides, const Comparison& comparison) {
  const auto known = [](const std::vector<ObservedRun>& runs) {
    return std::count_if(runs.begin(), runs.end(),
                         [](const ObservedRun& run) { return run.facts.price.has_value(); });
  };
  if (comparison.cost || !sides.no_steps().empty()) return "";
  if (std::string unread = unread_price(sides); !unread.empty()) return unread;
  const auto all = static_cast<std::ptrdiff_t>(sides.a.size() + sides.b.size());
  const auto priced = known(sides.a) + known(sides.b);
  if (priced == 0) return "";
  if (priced == all) return "prices in different currencies are not compared";
  return fmt::format("a run has no price per hour, so costs are not compared; {}", kPriceRemedy);
}

}  // namespace trainscope
