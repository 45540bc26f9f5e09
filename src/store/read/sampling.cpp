#include "store/read/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainscope {

namespace {

constexpr double kReasonSlackS = 0.25;
constexpr const char* kNoReason = "the recorder did not run";
constexpr const char* kNoReasonImported = "the imported recording has no rows here";

std::optional<double> quantile_s(const LatenessCounts& lateness, double share) {
  const auto late_us = lateness.nearest_rank_us(share);
  if (!late_us) return std::nullopt;
  return static_cast<double>(*late_us) / 1e6;
}

// The longest gaps, damage before others; never more than twice as many.
class LongestGaps {
 public:
  explicit LongestGaps(size_t most) : most_(most) {}

  Gap& add(Gap gap) {
    if (gaps_.size() / 2 >= most_) drop_shortest();
    return gaps_.emplace_back(std::move(gap));
  }
  // In order of time.
  void finish(Sampling& sampling) {
    drop_shortest();
    std::stable_sort(gaps_.begin(), gaps_.end(),
                     [](const Gap& a, const Gap& b) { return a.from_s < b.from_s; });
    sampling.gaps = std::move(gaps_);
    sampling.left_out_gaps = left_out_;
  }

 private:
  void drop_shortest() {
    if (gaps_.size() <= most_) return;
    const auto is_before = [](const Gap& a, const Gap& b) {
      if (a.is_damage != b.is_damage) return a.is_damage;
      return a.to_s - a.from_s > b.to_s - b.from_s;
    };
    const auto end = gaps_.begin() + static_cast<ptrdiff_t>(most_);
    std::nth_element(gaps_.begin(), end, gaps_.end(), is_before);
    left_out_ += gaps_.end() - end;
    gaps_.erase(end, gaps_.end());
  }

  const size_t most_;
  std::vector<Gap> gaps_;
  int64_t left_out_ = 0;
};

class GapFinder {
 public:
  GapFinder(const RunIndex& index, const StoredStream& stream, double duration_s,
            const char* no_reason, const std::string& unwritten_reason, size_t most_gaps)
      : index_(index),
        stream_(stream),
        no_reason_(no_reason),
        unwritten_reason_(unwritten_reason),
        period_s_(static_cast<double>(stream.period_ns) / 1e9),
        duration_s_(duration_s),
        gaps_(most_gaps),
        explained_(index.damages.size()) {}

  void find(Sampling& sampling) {
    int64_t next = 0;  // the tick that is expected
    auto missed = index_.missed.begin();
    for (size_t b = 0; b < stream_.blocks.size(); ++b) {
      const StoredBlock& block = stream_.blocks[b];
      if (block.is_empty()) continue;
      note_hole(next, block.first.tick, b, time_of(block.first.tick));
      for (; missed != index_.missed.end() && missed->block == b; ++missed) {
        note_hole(missed->from, missed->to, kInside, time_of(missed->to));
      }
      next = block.last.tick + 1;
    }
    const int64_t last = std::llround(duration_s_ * 1e9) / stream_.period_ns;
    if (next <= last) note_hole(next, last + 1, stream_.blocks.size(), duration_s_);
    add_lost_values();
    gaps_.finish(sampling);
    sampling.left_out_gaps += index_.left_out_missed;
  }

 private:
  static constexpr size_t kInside = SIZE_MAX;

  double time_of(int64_t tick) const { return static_cast<double>(tick * stream_.period_ns) / 1e9; }

  // Ticks [from, to) are missing before block `before`.
  void note_hole(int64_t from, int64_t to, size_t before, double to_s) {
    if (to <= from) return;
    const std::string damage = before == kInside ? "" : damage_before(before);
    if (to - from < kGapTicks && damage.empty()) return;
    Gap& gap = gaps_.add({time_of(from), to_s, damage, !damage.empty()});
    if (!damage.empty()) return;
    const bool is_last = before == stream_.blocks.size();
    gap.reason = reason_of(time_of(from), to_s, is_last);
    if (gap.reason.empty()) explain_by_cut(gap, before);
  }

  // A file that ends within a frame is damage unless a reason is known: that of a recorder that was
  // killed while it wrote.
  void explain_by_cut(Gap& gap, size_t before) const {
    const auto cut = std::find_if(index_.cuts.begin(), index_.cuts.end(),
                                  [&](const auto& each) { return each.blocks_before == before; });
    gap.is_damage = cut != index_.cuts.end();
    gap.reason = gap.is_damage ? cut->text : no_reason_;
  }

  // What could not be read between two blocks, once: it explains the gap between them.
  std::string damage_before(size_t block) {
    const auto& damages = index_.damages;
    const auto is_before = [](const IndexDamage& damage, size_t place) {
      return damage.blocks_before < place;
    };
    const auto first = std::lower_bound(damages.begin(), damages.end(), block, is_before);
    for (auto each = first; each != damages.end() && each->blocks_before == block; ++each) {
      explained_[static_cast<size_t>(each - damages.begin())] = 1;
    }
    return first == damages.end() || first->blocks_before != block ? "" : first->text;
  }

  // All reasons reported within the gap (killed, and then delayed by a busy machine), first that of
  // rows at the end that could not be written; otherwise a reason reported soon after it, or "".
  std::string reason_of(double from_s, double to_s, bool is_last) const {
    const double until = to_s + std::max(period_s_, kReasonSlackS);
    std::string reasons = is_last ? unwritten_reason_ : "";
    const auto is_before = [](const GapNote& note, double time_s) { return note.time_s < time_s; };
    // Notes are in order of time, and there may be as many as gaps.
    const auto& notes = index_.events.gap_notes;
    auto note = std::lower_bound(notes.begin(), notes.end(), from_s - period_s_, is_before);
    for (; note != notes.end() && note->time_s <= until; ++note) {
      if (note->time_s > to_s) return reasons.empty() ? *note->reason : reasons;
      if (reasons.find(*note->reason) != std::string::npos) continue;
      reasons += (reasons.empty() ? "" : "; ") + *note->reason;
    }
    return reasons;
  }

  // Damage that cost no rows cost values of the block before it.
  void add_lost_values() {
    for (size_t i = 0; i < index_.damages.size(); ++i) {
      if (explained_[i] != 0) continue;
      const IndexDamage& damage = index_.damages[i];
      std::string text = damage.text;
      if (damage.unlisted > 0) text += fmt::format(" and {} more places", damage.unlisted);
      Gap gap{0, 0, text + "; some values of this time are lost", true};
      if (damage.blocks_before > 0) {
        const StoredBlock& block = stream_.blocks[damage.blocks_before - 1];
        gap.from_s = time_of(block.front_tick);
        gap.to_s = time_of(block.back_tick);
      }
      gaps_.add(std::move(gap));
    }
  }

  const RunIndex& index_;
  const StoredStream& stream_;
  const std::string no_reason_;         // of gaps without events
  const std::string unwritten_reason_;  // of the rows at the end, "" if all were written
  const double period_s_, duration_s_;
  LongestGaps gaps_;
  std::vector<char> explained_;  // one per damage
};

}  // namespace

Sampling summarize_sampling(const RunIndex& index, const Manifest& manifest, double duration_s,
                            size_t most_gaps) {
  Sampling sampling;
  sampling.restarts = std::max<int64_t>(0, index.incarnations - 1);
  const StoredStream nothing{manifest.period_ns, {}};
  const auto found = index.streams.find(0);
  const StoredStream& rows = found == index.streams.end() ? nothing : found->second;
  sampling.period_s = static_cast<double>(rows.period_ns) / 1e9;
  if (rows.period_ns <= 0) return sampling;
  sampling.samples = index.lateness.count();
  const int64_t due = std::llround(duration_s * 1e9) / rows.period_ns + 1;
  sampling.missed = std::max<int64_t>(0, due - sampling.samples);
  const bool ours = manifest.imported_format.empty();
  if (ours) {
    sampling.jitter_p50_s = quantile_s(index.lateness, 0.5);
    sampling.jitter_p99_s = quantile_s(index.lateness, 0.99);
  }
  GapFinder(index, rows, duration_s, ours ? kNoReason : kNoReasonImported,
            manifest.unwritten_reason, most_gaps)
      .find(sampling);
  return sampling;
}

double last_row_s(const RunIndex& index) {
  double last = 0;
  for (const auto& [number, stream] : index.streams) {
    if (stream.blocks.empty()) continue;
    last = std::max(last, stream.time_s(stream.blocks.back().last));
  }
  return last;
}

}  // namespace trainscope
