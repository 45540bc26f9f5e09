#include "model/metric.h"

#include <array>

#include "base/text.h"

namespace trainscope {

namespace {

constexpr std::array<std::string_view, 3> kKinds = {"gauge", "counter", "state"};
constexpr std::array<std::string_view, 3> kStatuses = {"ok", "absent", "stale"};

}  // namespace

std::string_view kind_name(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::optional<Kind> kind_from_name(std::string_view name) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

std::string_view status_name(SeriesStatus status) { return kStatuses[static_cast<size_t>(status)]; }

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!text.empty()) text += ';';
    text += name + "=" + value;
  }
  return text;
}

std::string_view value_of_label(const Labels& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return {};
}

Labels labels_from_text(std::string_view text) {
  Labels labels;
  if (text.empty()) return labels;
  for (const std::string_view part : split(text, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    labels.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return labels;
}

std::string series_text(const Series& series) {
  if (series.labels.empty()) return series.metric;
  return series.metric + "{" + labels_text(series.labels) + "}";
}

}  // namespace trainscope
