#include "training/phase_track.h"

#include <algorithm>

namespace trainscope {

namespace {

TrainingPhase make_phase(std::string name, std::string who, double from_s, double to_s,
                         bool is_open) {
  from_s = std::max(0.0, from_s);
  return {std::move(name), std::move(who), from_s, std::max(from_s, to_s), is_open};
}

}  // namespace

std::optional<TrainingPhase> PhaseTrack::add(const StoredReport& stored) {
  const Report& report = stored.report;
  if (report.kind == Report::Kind::phase) {
    return make_phase(report.name, shown(report.who), stored.time_s - report.value, stored.time_s,
                      false);
  }
  if (report.kind == Report::Kind::step) count_step(stored);
  if (report.kind == Report::Kind::begin) begin(stored);
  if (report.kind != Report::Kind::end) return std::nullopt;
  const auto found = open_.find({shown(report.who), report.name});
  if (found == open_.end()) return std::nullopt;  // its begin was dropped
  if (--found->second.depth > 0) return std::nullopt;
  const double from_s = found->second.from_s;
  open_.erase(found);
  return make_phase(report.name, shown(report.who), from_s, stored.time_s, false);
}

void PhaseTrack::begin(const StoredReport& stored) {
  std::pair key(shown(stored.report.who), stored.report.name);
  const auto counted = steps_.find(key.first);
  const int64_t steps = counted == steps_.end() ? 0 : counted->second;
  const auto found = open_.find(key);
  if (found != open_.end() && steps > 0 && found->second.steps == steps) {
    ++found->second.depth;
  } else if (found != open_.end() || open_.size() < kMaxOpen) {
    open_[std::move(key)] = {stored.time_s, 1, steps, trained_};
  } else {
    ++ignored_;
  }
}

void PhaseTrack::count_step(const StoredReport& stored) {
  const std::string who = shown(stored.report.who);
  if (steps_.size() < kMaxOpen || steps_.contains(who)) ++steps_[who];
  if (who.empty() && !stored.report.is_of_other_set()) ++trained_;
}

bool PhaseTrack::is_pause_over(const std::pair<std::string, std::string>& key,
                               const Open& open) const {
  return make_phase(key.second, key.first, 0, 0, true).is_pause() && open.trained < trained_;
}

bool PhaseTrack::is_in_pause() const {
  for (const char* const name : {"evaluation", "checkpoint"}) {
    const auto found = open_.find({"", name});
    if (found != open_.end() && !is_pause_over(found->first, found->second)) return true;
  }
  return false;
}

std::vector<TrainingPhase> PhaseTrack::finish(double end_s) const {
  std::vector<TrainingPhase> phases;
  for (const auto& [key, open] : open_) {
    if (is_pause_over(key, open)) continue;
    phases.push_back(make_phase(key.second, key.first, open.from_s, end_s, true));
  }
  return phases;
}

std::optional<double> PhaseTrack::open_from(const std::string& name) const {
  const auto found = open_.find({"", name});
  return found == open_.end() ? std::nullopt : std::optional(std::max(0.0, found->second.from_s));
}

void Spans::add(double from_s, double to_s) {
  if (!ends_.empty() && from_s <= ends_.back()) {
    if (to_s <= ends_.back()) return;
    sums_.back() += to_s - ends_.back();
    ends_.back() = to_s;
    return;
  }
  if (!(to_s > from_s)) return;
  sums_.push_back((sums_.empty() ? 0 : sums_.back()) + to_s - from_s);
  begins_.push_back(from_s);
  ends_.push_back(to_s);
}

bool Spans::contains(double time_s) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), time_s);
  return after != begins_.begin() &&
         ends_[static_cast<size_t>(after - begins_.begin()) - 1] > time_s;
}

double Spans::before(double time_s) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), time_s);
  if (after == begins_.begin()) return 0;
  const auto last = static_cast<size_t>(after - begins_.begin()) - 1;
  return sums_[last] - std::max(0.0, ends_[last] - time_s);
}

}  // namespace trainscope
