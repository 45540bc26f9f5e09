// For tests: one source, opened on the tree of a fixture machine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/collect.h"
#include "testing/test_root.h"

namespace trainscope {

class OpenedSource {
 public:
  OpenedSource(const Collector& collector, const std::string& root, SourceContext context = {})
      : context_(std::move(context)), source_(collector.make()) {
    context_.root = root;
    open();
  }
  void open() {
    opened_ = source_->open(context_);
    values_.assign(opened_.columns.size(), kAbsent);
  }
  Sampled sample() { return source_->sample(values_); }
  Sampled sample_last() { return source_->sample_last(values_); }
  Sampled sample(int times) {
    for (int i = 1; i < times; ++i) {
      if (sample() != Sampled::ok) return Sampled::layout_changed;
    }
    return sample();
  }

  const Opened& opened() const { return opened_; }
  const std::vector<int64_t>& values() const { return values_; }
  // The scaled value of a series, by "metric{k=v;k=v}"; nothing when it is absent or not there.
  std::optional<double> value(const std::string& series) const {
    for (size_t i = 0; i < opened_.columns.size(); ++i) {
      if (name(i) != series || values_[i] == kAbsent) continue;
      return opened_.columns[i].scale.apply(values_[i]);
    }
    return std::nullopt;
  }
  bool has(const std::string& series) const {
    for (size_t i = 0; i < opened_.columns.size(); ++i) {
      if (name(i) == series) return true;
    }
    return false;
  }
  // "reason" or "reason | remedy"; empty when the metric is not missing.
  std::string missing(const std::string& metric) const {
    for (const Missing& missing : opened_.missing) {
      if (missing.metric != metric) continue;
      return missing.reason + (missing.remedy.empty() ? "" : " | " + missing.remedy);
    }
    return "";
  }

  std::string name(size_t column) const {
    const Column& it = opened_.columns[column];
    Series series;
    series.metric = it.metric;
    series.labels = it.labels;
    return series_text(series);
  }

 private:
  SourceContext context_;
  std::unique_ptr<Source> source_;
  Opened opened_;
  std::vector<int64_t> values_;
};

}  // namespace trainscope
