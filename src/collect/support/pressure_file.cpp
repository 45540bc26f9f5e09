#include "collect/support/pressure_file.h"

namespace trainscope {

PressureTotals parse_pressure(std::string_view text) {
  PressureTotals totals = {kAbsent, kAbsent};
  Scanner scan(text);
  while (!scan.done()) {
    const std::string_view line = scan.line();
    for (size_t kind = 0; kind < kPressureKinds.size(); ++kind) {
      const size_t total = line.find(" total=");
      if (!line.starts_with(kPressureKinds[kind]) || total == std::string_view::npos) continue;
      Scanner(line.substr(total + 7)).number(totals[kind]);
    }
  }
  return totals;
}

Status PressureFiles::open(const std::string& prefix, const std::string& suffix,
                           std::string_view metric, Opened& opened) {
  parts_.clear();
  Status opened_all;
  for (size_t i = 0; i < kPressureResources.size(); ++i) {
    const std::string resource(kPressureResources[i]);
    files_[i].close();
    if (Status status = files_[i].open(prefix + resource + suffix, 512); !status) {
      opened_all = std::move(status);
      continue;
    }
    const PressureTotals totals = parse_pressure(files_[i].read());
    for (size_t kind = 0; kind < kPressureKinds.size(); ++kind) {
      if (totals[kind] == kAbsent) continue;
      parts_.push_back({i, kind});
      opened.columns.push_back(
          {metric,
           {{"kind", std::string(kPressureKinds[kind])}, {"resource", resource}},
           {1, 1'000'000}});
    }
  }
  return opened_all;
}

void PressureFiles::sample(std::span<int64_t> values) {
  std::array<PressureTotals, kPressureResources.size()> totals{};
  for (size_t i = 0; i < files_.size(); ++i) totals[i] = parse_pressure(files_[i].read());
  for (size_t i = 0; i < parts_.size(); ++i) values[i] = totals[parts_[i].resource][parts_[i].kind];
}

}  // namespace trainscope
