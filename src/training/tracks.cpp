#include "training/tracks.h"

#include <algorithm>

namespace trainscope {

namespace {

void sort_by_key(std::vector<TrackTally>& tallies) {
  std::sort(tallies.begin(), tallies.end(),
            [](const TrackTally& a, const TrackTally& b) { return a.key < b.key; });
}

}  // namespace

std::optional<TrackKey> track_of(std::string_view source, const Report& report) {
  if (report.kind != Report::Kind::step || report.is_of_other_set()) return std::nullopt;
  if (source == kPipe) return TrackKey{kPipe, report.who};
  if (source == kEventFiles && !report.numbers.empty()) {
    return TrackKey{kEventFiles, report.numbers[0].first};
  }
  if (!report.who.empty()) return std::nullopt;
  return TrackKey{source, ""};
}

std::string_view choose_sender(std::vector<TrackTally> tallies) {
  sort_by_key(tallies);
  const TrackTally* most = nullptr;
  for (const TrackTally& tally : tallies) {
    if (tally.key.source != kPipe) continue;
    if (tally.key.name.empty()) return "";
    if (most == nullptr || tally.reports > most->reports) most = &tally;
  }
  return most == nullptr ? "" : most->key.name;
}

std::vector<TrackTally> choose_tracks(std::vector<TrackTally> tallies) {
  const std::string_view sender = choose_sender(tallies);
  sort_by_key(tallies);
  std::vector<TrackTally> tracks;
  for (const TrackTally& tally : tallies) {
    const TrackKey& key = tally.key;
    if (key.source == kPipe && key.name != sender) continue;
    const bool is_first = tracks.empty() || tracks.back().key.source != key.source;
    if (is_first) {
      tracks.push_back(tally);
      continue;
    }
    // Of event files; a track without a name comes first and counts only if it is the only one.
    TrackTally& most = tracks.back();
    const bool is_more = most.key.name.empty() || tally.observed() > most.observed() ||
                         (tally.observed() == most.observed() && key.name == "loss");
    if (is_more) most = tally;
  }
  return tracks;
}

std::optional<TrackTally> choose_training(const std::vector<TrackTally>& tracks) {
  std::optional<TrackTally> chosen;
  for (const std::string_view source : {kPipe, kEventFiles, kOutput}) {
    for (const TrackTally& track : tracks) {
      if (track.key.source != source || track.observed() == 0) continue;
      const bool is_better =
          !chosen || (chosen->key.source != kPipe && track.observed() > chosen->observed());
      if (is_better) chosen = track;
    }
  }
  return chosen;
}

}  // namespace trainscope
