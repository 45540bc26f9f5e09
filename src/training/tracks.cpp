#include "training/tracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace trainscope {

namespace {

void sort_by_key(std::vector<TrackTally>& tallies) {
  std::sort(tallies.begin(), tallies.end(),
            [](const TrackTally& a, const TrackTally& b) { return a.key < b.key; });
}

// Sender of `run --instrument` (python/instrument/modules/session.py).
constexpr std::string_view kUnsureSender = "instrument";
constexpr std::string_view kRank = "rank";
constexpr size_t kMaxNamedSenders = 3;

bool is_unsure(std::string_view who) {
  return who == kUnsureSender || who.ends_with(".instrument");
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_rank(std::string_view who) {
  return who.starts_with(kRank) && is_number(who.substr(kRank.size()));
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

std::vector<StepSender> other_step_senders(const std::vector<TrackTally>& tallies,
                                           std::string_view chosen) {
  std::vector<StepSender> others;
  for (const TrackTally& tally : tallies) {
    const std::string_view who = tally.key.name;
    if (tally.key.source != kPipe || who == chosen || is_unsure(who)) continue;
    if (tally.observed() > 0) others.push_back({std::string(who), tally.observed()});
  }
  return others;
}

std::string senders_note(std::string_view chosen, const std::vector<StepSender>& others) {
  const bool are_ranks =
      std::all_of(others.begin(), others.end(), [](const auto& one) { return is_rank(one.who); });
  // Clients name a process by its rank or its process id, and a thread by more than that.
  const bool are_processes = std::all_of(others.begin(), others.end(), [](const auto& one) {
    return is_rank(one.who) || is_number(one.who);
  });
  std::string named;
  for (size_t i = 0; i < std::min(others.size(), kMaxNamedSenders); ++i) {
    named += fmt::format("{}{} reported {}", i == 0 ? "" : ", ", printable(others[i].who),
                         others[i].observed);
  }
  if (others.size() > kMaxNamedSenders) {
    named += fmt::format(", and {} more", others.size() - kMaxNamedSenders);
  }
  std::string whose = printable(chosen);
  if (chosen.empty()) whose = are_ranks ? "rank 0" : "the main process";
  return fmt::format("{} {} reported steps; those of {} count ({})", others.size() + 1,
                     are_processes ? "processes" : "senders", whose, named);
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
    // Of event files; a track without a name comes first and counts only if it is the only one, and
    // so does one whose numbers nobody can believe.
    TrackTally& most = tracks.back();
    if (tally.counter->is_mixed()) continue;
    const bool is_more = most.key.name.empty() || most.counter->is_mixed() ||
                         tally.observed() > most.observed() ||
                         (tally.observed() == most.observed() && key.name == "loss");
    if (is_more) most = tally;
  }
  return tracks;
}

std::optional<TrackTally> choose_training(const std::vector<TrackTally>& tracks) {
  std::optional<TrackTally> chosen;
  for (const std::string_view source : {kPipe, kEventFiles, kOutput}) {
    for (const TrackTally& track : tracks) {
      const bool is_of_source = track.key.source == source;
      if (!is_of_source || track.observed() == 0 || track.counter->is_mixed()) continue;
      const bool is_better =
          !chosen || (chosen->key.source != kPipe && track.observed() > chosen->observed());
      if (is_better) chosen = track;
    }
  }
  return chosen;
}

}  // namespace trainscope
