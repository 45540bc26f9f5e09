#include "training/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "training/no_steps.h"
#include "training/step_groups.h"
#include "training/step_track.h"

namespace trainscope {

namespace {

using ReportKind = Report::Kind;

// "val_loss" is the loss of the validation set, whatever else the line says.
NamedNumber name_and_set(const std::string& name, const std::string& set) {
  NamedNumber number = without_set_prefix(name);
  if (number.set.empty()) number.set = set.empty() ? "train" : set;
  return number;
}

// Spans of time in order, overlaps merged.
class Spans {
 public:
  // In order of `from_s`.
  void add(double from_s, double to_s) {
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
  double within(double from_s, double to_s) const { return before(to_s) - before(from_s); }
  bool contains(double time_s) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), time_s);
    return after != begins_.begin() &&
           ends_[static_cast<size_t>(after - begins_.begin()) - 1] > time_s;
  }

 private:
  // How much of the time up to this moment they fill.
  double before(double time_s) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), time_s);
    if (after == begins_.begin()) return 0;
    const auto last = static_cast<size_t>(after - begins_.begin()) - 1;
    return sums_[last] - std::max(0.0, ends_[last] - time_s);
  }

  std::vector<double> begins_, ends_, sums_;
};

class Reader {
 public:
  Reader(std::vector<StoredReport> reports, double duration_s, std::span<const Event> events)
      : reports_(std::move(reports)), duration_s_(duration_s), why_no_steps_(why_no_steps(events)) {
    for (const Event& event : events) {
      if (event.kind == kOutputIsShared) why_refused_ = event.text;
      if (event.kind == kOutputIsPolled) why_polled_ = event.text;
    }
    if (!why_refused_.empty()) {
      std::erase_if(reports_, [](const StoredReport& each) { return each.source == "output"; });
    }
    std::stable_sort(
        reports_.begin(), reports_.end(),
        [](const StoredReport& a, const StoredReport& b) { return a.time_s < b.time_s; });
  }

  Training read() {
    drop_repeated();
    choose_speaker();
    for (const StoredReport& report : reports_) take(report);
    reports_ = {};  // there may be millions, and what follows takes as much memory again
    for (const auto& [key, from_s] : open_)
      add_phase(key.second, key.first, from_s, duration_s_, true);
    std::stable_sort(
        out_.phases.begin(), out_.phases.end(),
        [](const TrainingPhase& a, const TrainingPhase& b) { return a.from_s < b.from_s; });
    index_phases();
    choose_source();
    explain_times();
    divide_time();
    if (out_.times_reason.empty()) mark_warmup(out_.steps);
    return std::move(out_);
  }

 private:
  // Who does the steps: those without a name, or, where all have one (one of several ranks, a
  // training in a forked process), the one who tells most.
  void choose_speaker() {
    std::map<std::string, int64_t> told;
    for (const StoredReport& stored : reports_) {
      if (stored.report.kind == ReportKind::step && stored.source == "pipe")
        ++told[stored.report.who];
    }
    if (told.empty() || told.contains("")) return;
    const auto most = std::max_element(
        told.begin(), told.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    main_ = most->first;
  }
  // The training's phases have no name beside them.
  std::string shown(const std::string& who) const { return who == main_ ? "" : who; }

  void take(const StoredReport& stored) {
    const Report& report = stored.report;
    switch (report.kind) {
      case ReportKind::step:
        take_step(stored);
        keep_numbers(stored);
        return;
      case ReportKind::epoch:
        take_epoch(stored);
        return;
      case ReportKind::begin:
        open_[{shown(report.who), report.name}] = stored.time_s;
        return;
      case ReportKind::end:
        close_phase(stored);
        return;
      case ReportKind::phase:
        add_phase(report.name, shown(report.who), stored.time_s - report.value, stored.time_s,
                  false);
        return;
      case ReportKind::batch:
        batch_ = static_cast<double>(*report.number);
        out_.batch = std::max(out_.batch.value_or(0), *batch_);
        return;
      case ReportKind::scalar: {
        const auto [plain, set] = name_and_set(report.name, report.set);
        add_number(plain, set, stored.time_s, report.find("step"), report.value, stored.source);
        return;
      }
      case ReportKind::dropped:
        out_.dropped += *report.number;
        return;
      case ReportKind::mark:
        return;  // an event already
    }
  }

  // Event files are read from their beginning after a restart of the recorder.
  void drop_repeated() {
    std::set<std::pair<double, std::string>> seen;
    std::erase_if(reports_, [&](const StoredReport& stored) {
      if (stored.source != "tensorboard") return false;
      return !seen.emplace(stored.time_s, format_report(stored.report)).second;
    });
  }

  // In event files every number may have its own axis: one counts batches, another epochs.
  void take_step(const StoredReport& stored) {
    const Report& report = stored.report;
    if (stored.source == "tensorboard" && !report.numbers.empty()) {
      event_tracks_[report.numbers[0].first].add(stored.time_s, report);
      return;
    }
    const bool is_training = stored.source == "pipe" ? report.who == main_ : report.who.empty();
    if (!is_training) return;
    tracks_[stored.source].add(stored.time_s, report,
                               stored.source == "pipe" ? batch_ : std::nullopt);
  }

  // The number that was told most often counts the steps; the others are put beside it.
  void join_event_tracks() {
    StepTrack* most = nullptr;
    for (auto& [name, track] : event_tracks_) {
      const bool more = most == nullptr || track.observed() > most->observed() ||
                        (track.observed() == most->observed() && name == "loss");
      if (more) most = &track;
    }
    if (most == nullptr) return;
    for (const auto& [name, track] : event_tracks_) {
      if (&track != most) most->merge_from(track);
    }
    tracks_["tensorboard"] = *most;
  }

  void add_phase(const std::string& name, const std::string& who, double from_s, double to_s,
                 bool is_open) {
    from_s = std::max(0.0, from_s);
    out_.phases.push_back({name, who, from_s, std::max(from_s, to_s), is_open});
  }

  void close_phase(const StoredReport& stored) {
    const auto found = open_.find({shown(stored.report.who), stored.report.name});
    if (found == open_.end()) return;  // its begin was dropped
    add_phase(stored.report.name, found->first.first, found->second, stored.time_s, false);
    open_.erase(found);
  }

  void take_epoch(const StoredReport& stored) {
    const Report& report = stored.report;
    auto& epochs = epochs_[stored.source];
    const int64_t next = epochs.empty() ? 1 : epochs.back().epoch + 1;
    const int64_t number = report.number.value_or(next);
    if (epochs.empty() || epochs.back().epoch != number) epochs.push_back({number, 0, {}});
    epochs.back().time_s = stored.time_s;
    const bool other_set = !report.set.empty() && report.set != "train";
    const std::string prefix = !other_set ? "" : report.set == "test" ? "test_" : "val_";
    for (const auto& [name, value] : report.numbers) {
      if (std::isfinite(value)) epochs.back().values[prefix + name] = value;
    }
    keep_numbers(stored);
  }

  void keep_numbers(const StoredReport& stored) {
    const Report& report = stored.report;
    std::optional<double> step;
    if (report.kind == ReportKind::step && report.number)
      step = static_cast<double>(*report.number);
    for (const auto& [name, value] : report.numbers) {
      if (is_place(name)) continue;
      if (std::isfinite(value)) {
        const auto [plain, set] = name_and_set(name, report.set);
        add_number(plain, set, stored.time_s, step, value, stored.source);
      } else if (out_.notes.empty()) {
        out_.notes.push_back(
            fmt::format("{} is not a number from {:.1f} s on", printable(name), stored.time_s));
      }
    }
  }

  void add_number(const std::string& name, const std::string& set, double time_s,
                  std::optional<double> step, double value, const std::string& source) {
    if (!std::isfinite(value)) return;
    std::optional<int64_t> number;
    if (step && *step >= 0 && *step < 9e15) number = std::llround(*step);
    out_.numbers.push_back({name, set, source, time_s, number, value});
  }

  // The pipe was meant for us; of the others the one that tells more, and of two that tell as much
  // the event files, whose times are the job's own.
  void choose_source() {
    join_event_tracks();
    const auto told = [&](const std::string& source) {
      const auto found = tracks_.find(source);
      return found == tracks_.end() ? size_t{0} : found->second.observed();
    };
    for (const std::string source : {"pipe", "tensorboard", "output"}) {
      if (told(source) == 0) continue;
      const bool better =
          out_.source.empty() || (out_.source != "pipe" && told(source) > told(out_.source));
      if (better) out_.source = source;
    }
    for (const auto& [source, track] : tracks_) {
      if (source != out_.source && track.observed() > 0) out_.unused_sources.push_back(source);
    }
    if (!out_.source.empty()) {
      out_.count = tracks_[out_.source].count();
      if (tracks_[out_.source].counts_items()) out_.notes.emplace_back(kCountsItems);
      out_.steps = tracks_[out_.source].take_steps();
    }
    take_epochs();
    if (out_.count) return;
    if (!why_refused_.empty()) {
      out_.are_steps_refused = true;
      out_.reason = "printed steps are not counted: " + why_refused_ +
                    "; redirect the output of each run to its own file";
      return;
    }
    out_.reason = out_.epochs.empty()
                      ? why_no_steps_
                      : fmt::format("{} epochs were reported, but no steps", out_.epochs.size());
  }

  // Of the same source as the steps where it tells of epochs.
  void take_epochs() {
    for (const std::string& source :
         {out_.source, std::string("pipe"), std::string("tensorboard"), std::string("output")}) {
      const auto found = epochs_.find(source);
      if (found == epochs_.end()) continue;
      out_.epochs = found->second;
      return;
    }
  }

  // Where the training paused, and where it waited for data outside of pauses.
  void index_phases() {
    for (const TrainingPhase& phase : out_.phases) {
      if (phase.is_pause()) pauses_.add(phase.from_s, phase.to_s);
    }
    for (const TrainingPhase& phase : out_.phases) {
      knows_input_ = knows_input_ || phase.is_input();
      if (phase.is_input() && !pauses_.contains((phase.from_s + phase.to_s) / 2)) {
        inputs_.add(phase.from_s, phase.to_s);
      }
    }
  }

  // Printed lines, and those of the pipe that have no time, are dated by when we read them.
  bool may_arrive_together() const { return out_.source == "output" || out_.source == "pipe"; }

  void explain_times() {
    if (!may_arrive_together()) return;
    const auto is_timed = [](const Step& step) { return step.duration_s.has_value(); };
    const bool are_told = std::all_of(out_.steps.begin(), out_.steps.end(), is_timed);
    if (out_.source == "output" && !why_polled_.empty() && !are_told) {
      out_.times_reason =
          "step times are unknown: the times of printed lines are coarse, because " + why_polled_;
    } else {
      out_.times_reason = why_times_are_unknown(out_.steps, out_.source);
    }
  }

  void divide_time() {
    std::optional<double> from_s = first_step_began();
    const bool knows_averages = out_.times_reason.empty() || are_averages_known(out_.steps);
    for (size_t i = 0; i < out_.steps.size();) {
      const size_t end = may_arrive_together() ? end_of_group(out_.steps, i) : i + 1;
      const std::span<Step> together(&out_.steps[i], end - i);
      if (from_s && knows_averages) divide_among(together, *from_s);
      from_s = together[0].time_s;
      i = end;
    }
    for (Step& step : out_.steps) {
      if (!step.throughput && step.items && step.duration_s && *step.duration_s > 0) {
        step.throughput = *step.items / *step.duration_s;
      }
    }
  }

  // The time from the report before to that of these steps, which have it in common.
  void divide_among(std::span<Step> together, double from_s) {
    const double to_s = together[0].time_s;
    double covers = 0;
    for (const Step& step : together) covers += static_cast<double>(step.covers);
    const double each_s = std::max(0.0, to_s - from_s - pauses_.within(from_s, to_s)) / covers;
    const bool is_own = together.size() == 1 && out_.times_reason.empty();
    for (Step& step : together) {
      if (step.duration_s) continue;
      (is_own ? step.duration_s : step.average_s) = each_s;
      if (knows_input_) step.input_wait_s = inputs_.within(from_s, to_s) / covers;
    }
  }

  // Where the job tells of phases, the first of them began the first step.
  std::optional<double> first_step_began() const {
    for (const TrainingPhase& phase : out_.phases) {
      if (phase.who.empty() && !phase.is_pause()) {
        const bool before = !out_.steps.empty() && phase.from_s < out_.steps[0].time_s;
        return before && out_.steps[0].covers == 1 ? std::optional(phase.from_s) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::vector<StoredReport> reports_;
  double duration_s_;
  std::string why_no_steps_;
  std::string main_;  // who does the steps
  Training out_;
  std::string why_refused_, why_polled_;  // of printed lines
  Spans pauses_, inputs_;
  bool knows_input_ = false;
  std::optional<double> batch_;  // as of the report that is being taken
  std::map<std::string, StepTrack> tracks_;
  std::map<std::string, StepTrack> event_tracks_;  // by the name of the number
  std::map<std::string, std::vector<Epoch>> epochs_;
  std::map<std::pair<std::string, std::string>, double> open_;  // by who and name
};

}  // namespace

Result<StoredReport> parse_stored_report(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return Error("malformed progress");
  const auto time_ns = parse_integer(line.substr(0, first));
  if (!time_ns) return Error("progress without a time");
  TS_TRY(Report report, parse_report(line.substr(second + 1)));
  return StoredReport{static_cast<double>(*time_ns) / 1e9,
                      std::string(line.substr(first + 1, second - first - 1)), std::move(report)};
}

std::string format_stored_report(int64_t time_ns, std::string_view source, const Report& report) {
  return fmt::format("{} {} {}\n", time_ns, source, format_report(report));
}

Training read_training(std::vector<StoredReport> reports, double duration_s,
                       std::span<const Event> events) {
  return Reader(std::move(reports), duration_s, events).read();
}

}  // namespace trainscope
