#include "training/epoch_list.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "training/tracks.h"

namespace trainscope {

namespace {

// "val_loss" in the values of an epoch is the loss of the validation set, also where the job itself
// calls it so and states the set.
std::string name_in_epoch(const Report& report, const std::string& name) {
  if (!report.is_of_other_set()) return name;
  const NamedNumber named = without_set_prefix(name);
  const std::string prefix = report.set == "validation" ? "val_" : report.set + "_";
  return prefix + (named.set == report.set ? std::string(named.name) : name);
}

}  // namespace

void EpochList::forget(const std::string& source) {
  const auto found = sources_.find(source);
  if (found == sources_.end()) return;
  for (const Epoch& epoch : found->second.listed) values_ -= epoch.values.size();
  sources_.erase(found);
}

// Where this epoch is listed, or null if it does not count.
EpochList::OfSource* EpochList::find(const StoredReport& stored) {
  const bool is_of_sender = stored.source == kPipe && stored.report.who == sender_;
  auto found = sources_.find(stored.source);
  if (found != sources_.end() && found->second.is_of_sender != is_of_sender) {
    if (!is_of_sender) return nullptr;
    forget(stored.source);
    found = sources_.end();
  }
  if (found == sources_.end()) {
    if (sources_.size() == kMaxSources) return nullptr;
    found = sources_.try_emplace(stored.source).first;
    found->second.is_of_sender = is_of_sender;
  }
  return &found->second;
}

void EpochList::add(const StoredReport& stored) {
  OfSource* const of_source = find(stored);
  if (of_source == nullptr) return;
  OfSource& epochs = *of_source;
  const int64_t number = stored.report.number.value_or(epochs.last + 1);
  if (epochs.count == 0 || number != epochs.last) {
    ++epochs.count;
    epochs.last = number;
    if (epochs.listed.size() < kMaxEpochs) epochs.listed.push_back({number, 0, {}});
  }
  const bool is_listed = static_cast<size_t>(epochs.count) == epochs.listed.size();
  if (!is_listed) return;
  epochs.listed.back().time_s = stored.time_s;
  take_values(stored.report, epochs);
}

void EpochList::take_values(const Report& report, OfSource& of_source) {
  auto& values = of_source.listed.back().values;
  for (const auto& [name, value] : report.numbers) {
    if (!std::isfinite(value)) continue;
    std::string known_name = name_in_epoch(report, name);
    const auto found = values.find(known_name);
    if (found != values.end()) {
      found->second = value;
    } else if (values_ < kMaxValues) {
      ++values_;
      values.emplace(std::move(known_name), value);
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
