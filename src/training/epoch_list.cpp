#include "training/epoch_list.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "training/tracks.h"

namespace trainscope {

namespace {

// "val_loss" in the values of an epoch is the loss of the validation set.
std::string prefix_of(const Report& report) {
  if (!report.is_of_other_set()) return "";
  return report.set == "validation" ? "val_" : report.set + "_";
}

}  // namespace

void EpochList::add(const StoredReport& stored) {
  auto found = sources_.find(stored.source);
  if (found == sources_.end()) {
    if (listed_ == kMaxEpochs) return;
    found = sources_.try_emplace(stored.source).first;
  }
  OfSource& epochs = found->second;
  const int64_t number = stored.report.number.value_or(epochs.last + 1);
  if (epochs.count == 0 || number != epochs.last) {
    ++epochs.count;
    epochs.last = number;
    if (listed_ < kMaxEpochs) {
      ++listed_;
      epochs.listed.push_back({number, 0, {}});
    }
  }
  const bool is_listed = static_cast<size_t>(epochs.count) == epochs.listed.size();
  if (!is_listed) return;
  epochs.listed.back().time_s = stored.time_s;
  take_values(stored.report, epochs);
}

void EpochList::take_values(const Report& report, OfSource& of_source) {
  const std::string prefix = prefix_of(report);
  auto& values = of_source.listed.back().values;
  for (const auto& [name, value] : report.numbers) {
    if (!std::isfinite(value)) continue;
    const auto found = values.find(prefix + name);
    if (found != values.end()) {
      found->second = value;
    } else if (values_ < kMaxValues) {
      ++values_;
      values.emplace(prefix + name, value);
    } else {
      of_source.lacks_values = true;
    }
  }
}

int64_t EpochList::finish(std::string_view source, std::vector<Epoch>& epochs,
                          std::vector<std::string>& notes) {
  for (const std::string_view each : {source, kPipe, kEventFiles, kOutput}) {
    const auto found = sources_.find(each);
    if (found == sources_.end()) continue;
    OfSource& of_source = found->second;
    epochs = std::move(of_source.listed);
    if (static_cast<size_t>(of_source.count) > epochs.size()) {
      notes.push_back(
          fmt::format("only the first {} of {} epochs are listed", epochs.size(), of_source.count));
    }
    if (of_source.lacks_values) {
      notes.push_back(fmt::format("only the first {} values of epochs are listed", kMaxValues));
    }
    return of_source.count;
  }
  return 0;
}

}  // namespace trainscope
