#include "collect/collect.h"

namespace trainscope {

const MetricSpec* find_metric(const Collector& collector, std::string_view name) {
  for (const MetricSpec& spec : collector.metrics) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace trainscope
