#include "cli/source_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <set>
#include <system_error>
#include <thread>

#include "base/text.h"

namespace trainscope {

namespace {

constexpr int kMaxReopens = 3;

CheckedSource head_of(const Collector& collector) {
  CheckedSource found;
  found.name = collector.name;
  found.summary = collector.summary;
  return found;
}

// The metrics of columns that gave a value in one of two samples.
std::set<std::string_view> sampled_metrics(Source& source, Opened& opened,
                                           const SourceContext& context) {
  std::set<std::string_view> seen;
  int reopens = 0;
  for (int sample = 0; sample < 2; ++sample) {
    std::vector<int64_t> values(opened.columns.size(), kAbsent);
    if (source.sample(values) == Sampled::layout_changed && reopens++ < kMaxReopens) {
      opened = source.open(context);
      --sample;
      continue;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != kAbsent) seen.insert(opened.columns[i].metric);
    }
  }
  return seen;
}

void add_missing(CheckedSource& found, std::string_view metric, const std::string& reason,
                 const std::string& remedy) {
  for (const CheckedMetric& known : found.missing) {
    if (known.name == metric) return;
  }
  found.missing.push_back({std::string(metric), reason, remedy});
}

// The distinct texts, for the source as a whole.
std::string joined(const std::vector<CheckedMetric>& missing, std::string CheckedMetric::*field) {
  std::vector<std::string> texts;
  for (const CheckedMetric& metric : missing) {
    const std::string& text = metric.*field;
    if (text.empty() || std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

CheckedSource unavailable(const Collector& collector, const std::string& reason) {
  CheckedSource found = head_of(collector);
  found.status = "unavailable";
  found.reason = reason;
  for (const MetricSpec& spec : collector.metrics) add_missing(found, spec.name, reason, "");
  return found;
}

}  // namespace

CheckedSource check_source(const Collector& collector, const SourceContext& context) {
  CheckedSource found = head_of(collector);
  const std::unique_ptr<Source> source = collector.make();
  Opened opened = source->open(context);
  const auto seen = sampled_metrics(*source, opened, context);
  for (const MetricSpec& spec : collector.metrics) {
    if (seen.contains(spec.name)) {
      found.metrics.emplace_back(spec.name);
      continue;
    }
    const auto missing =
        std::find_if(opened.missing.begin(), opened.missing.end(),
                     [&](const Missing& entry) { return entry.metric == spec.name; });
    if (missing != opened.missing.end()) {
      add_missing(found, spec.name, missing->reason, missing->remedy);
    } else {
      add_missing(found, spec.name, "no value could be read", "");
    }
  }
  found.status = found.missing.empty() ? "ok" : found.metrics.empty() ? "unavailable" : "partial";
  found.reason = joined(found.missing, &CheckedMetric::reason);
  found.remedy = joined(found.missing, &CheckedMetric::remedy);
  return found;
}

CheckedSource check_source_within(const Collector& collector, const SourceContext& context,
                                  int64_t deadline_ns) {
  auto promise = std::make_shared<std::promise<CheckedSource>>();
  auto answer = promise->get_future();
  const auto probe = [promise, &collector, context] {
    try {
      promise->set_value(check_source(collector, context));
    } catch (const std::exception& error) {  // the others are still worth checking
      promise->set_value(unavailable(collector, error.what()));
    }
  };
  try {
    std::thread(probe).detach();  // if it hangs: it uses nothing of the caller
  } catch (const std::system_error& error) {
    return unavailable(collector, fmt::format("cannot start a thread: {}", error.code().message()));
  }
  if (answer.wait_for(std::chrono::nanoseconds(deadline_ns)) == std::future_status::ready) {
    return answer.get();
  }
  return unavailable(collector, fmt::format("no reply within {}",
                                            duration_text(static_cast<double>(deadline_ns) / 1e9)));
}

}  // namespace trainscope
