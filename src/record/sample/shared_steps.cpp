#include "record/sample/shared_steps.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"

namespace trainscope {

SharedSteps::Track* SharedSteps::find(std::string_view source, std::string_view name) {
  const auto is_it = [&](const Track& track) {
    return track.name_text() == name && track.source_text() == source;
  };
  if (last_ < tracks_ && is_it(track_[last_])) return &track_[last_];
  for (last_ = 0; last_ < tracks_; ++last_) {
    if (is_it(track_[last_])) return &track_[last_];
  }
  if (tracks_ == kMaxTracks || source.size() > sizeof(Track::source) || name.size() > kMaxNameBytes)
    return nullptr;
  Track& track = track_[tracks_++];
  track.source_bytes = static_cast<uint32_t>(source.copy(track.source, source.size()));
  track.name_bytes = static_cast<uint32_t>(name.copy(track.name, name.size()));
  return &track;
}

void SharedSteps::add(int64_t time_ns, std::string_view source, const Report& report) {
  const auto key = track_of(source, report);
  if (!key || is_lost_ != 0) return;
  Track* track = find(key->source, key->name);
  if (track == nullptr) {
    is_lost_ = 1;
    return;
  }
  // Event files that are read again repeat reports of a time that has been counted.
  const int64_t number = report.number.value_or(track->last_number + 1);
  const bool is_repeated =
      source == kEventFiles && time_ns == track->last_ns && number < track->last_number;
  if (track->reports > 0 && (time_ns < track->last_ns || is_repeated)) is_lost_ = 1;
  if (track->reports == 0) track->first_ns = time_ns;
  track->last_ns = time_ns;
  track->last_number = number;
  ++track->reports;
  track->counter.add(report);
}

const SharedSteps::Track* SharedSteps::chosen(bool is_output_refused) const {
  std::vector<TrackTally> tallies;
  for (uint32_t i = 0; i < tracks_; ++i) {
    const Track& track = track_[i];
    if (is_output_refused && track.source_text() == kOutput) continue;
    tallies.push_back({{track.source_text(), track.name_text()}, track.reports, &track.counter});
  }
  const auto chosen = choose_training(choose_tracks(std::move(tallies)));
  if (!chosen) return nullptr;
  return std::find_if(track_, track_ + tracks_,
                      [&](const Track& track) { return &track.counter == chosen->counter; });
}

std::optional<int64_t> SharedSteps::count(bool is_output_refused) const {
  const Track* const track = chosen(is_output_refused);
  return track == nullptr ? std::nullopt : track->counter.count();
}

std::optional<double> SharedSteps::steps_per_s(bool is_output_refused) const {
  const Track* const track = chosen(is_output_refused);
  if (track == nullptr || track->last_ns <= track->first_ns) return std::nullopt;
  const auto steps = static_cast<double>(track->counter.steps_since_first());
  return steps / to_seconds(track->last_ns - track->first_ns);
}

}  // namespace trainscope
