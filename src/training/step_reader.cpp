#include "training/step_reader.h"

#include <algorithm>
#include <deque>

#include "training/step_track.h"
#include "training/tracks.h"

namespace trainscope {

namespace {

constexpr size_t kMaxHeldBack = 100'000;
constexpr size_t kMaxGroup = 250'000;  // more than the shortest lines that fill the pipe
// With names of up to 15 characters 40 MB; four times as many as fit into the pipe.
constexpr size_t kMaxHeldNumbers = 1'000'000;
constexpr size_t kMaxWaits = 1'000'000;

// A number of the event files next to the one that counts the steps: its values by step.
class JoinedTrack {
 public:
  JoinedTrack(const Reports& reports, const Survey& survey, std::string name)
      : name_(std::move(name)),
        reports_(read_counted(reports, survey.is_output_refused)),
        track_(survey.names) {}

  // Fills what a step lacks. Steps are given in order of their numbers.
  Status join(Step& step) {
    while (!next_ || next_->step <= step.step) {
      if (next_) last_ = std::move(next_);
      TS_TRY(next_, read());
      if (!next_) break;
    }
    if (!last_ || last_->step != step.step) return {};
    if (!step.loss) step.loss = last_->loss;
    if (!step.accuracy) step.accuracy = last_->accuracy;
    return {};
  }

 private:
  Result<std::optional<Step>> read() {
    while (!is_over_) {
      TS_TRY(const bool has_more, reports_->next(stored_));
      is_over_ = !has_more;
      if (is_over_) return track_.finish();
      const auto key = track_of(stored_.source, stored_.report);
      if (!key || key->source != kEventFiles || key->name != name_) continue;
      if (auto step = track_.add(stored_.time_s, stored_.report)) return step;
    }
    return std::optional<Step>();
  }

  std::string name_;
  std::unique_ptr<Reader<StoredReport>> reports_;
  StoredReport stored_;
  StepTrack track_;
  bool is_over_ = false;
  std::optional<Step> last_, next_;
};

// Waits for data, by begin.
class Waits {
 public:
  void add(const TrainingPhase& phase, bool is_counted) {
    if (waits_.size() == kMaxWaits) return;
    const auto after =
        std::upper_bound(waits_.begin(), waits_.end(), phase.from_s,
                         [](double from_s, const Wait& wait) { return from_s < wait.from_s; });
    waits_.insert(after, {phase.from_s, phase.to_s, is_counted});
  }

  // How much of this time they fill; only what is counted, overlaps once.
  double within(double from_s, double to_s) const {
    double sum_s = 0;
    for (const Wait& wait : waits_) {
      if (wait.from_s >= to_s) break;
      const double begin_s = std::max(wait.from_s, from_s), end_s = std::min(wait.to_s, to_s);
      if (!wait.is_counted || end_s <= begin_s) continue;
      sum_s += end_s - begin_s;
      from_s = end_s;
    }
    return sum_s;
  }

  // Of those that begin in this time.
  void set_longest(double from_s, Step& step) const {
    const Wait* longest = nullptr;
    for (const Wait& wait : waits_) {
      if (wait.from_s >= step.time_s) break;
      if (wait.from_s < from_s) continue;
      if (longest == nullptr || wait.length_s() > longest->length_s()) longest = &wait;
    }
    if (longest == nullptr) return;
    step.longest_wait_from_s = longest->from_s;
    step.longest_wait_to_s = longest->to_s;
  }

  // Nobody asks for a time before this one any more.
  void forget_before(double time_s) {
    std::vector<Wait> lasting;
    for (; !waits_.empty() && waits_.front().from_s < time_s; waits_.pop_front()) {
      if (waits_.front().to_s > time_s) lasting.push_back(waits_.front());
    }
    waits_.insert(waits_.begin(), lasting.begin(), lasting.end());
  }

 private:
  struct Wait {
    double from_s = 0, to_s = 0;
    bool is_counted = true;
    double length_s() const { return to_s - from_s; }
  };
  std::deque<Wait> waits_;
};

class StepReader : public Reader<Step> {
 public:
  StepReader(std::shared_ptr<const Reports> reports, std::shared_ptr<const Survey> survey,
             StepNumbers numbers)
      : all_(std::move(reports)),
        survey_(std::move(survey)),
        reports_(read_counted(*all_, survey_->is_output_refused)),
        track_(survey_->names, numbers),
        phases_(survey_->sender) {
    for (const std::string& name : survey_->joined) joined_.emplace_back(*all_, *survey_, name);
    if (const auto from_s = survey_->open_input_from_s) {
      add_wait({"input", "", *from_s, std::max(*from_s, survey_->duration_s), true});
    }
  }

  Result<bool> next(Step& step) override {
    while (settled_ == 0) {
      if (is_front_complete()) {
        settle_front();
      } else if (is_over_) {
        return false;
      } else {
        TS_CHECK_OK(read_report());
      }
    }
    step = std::move(pending_.front());
    pending_.pop_front();
    --settled_;
    held_numbers_ -= step.numbers.size();
    for (JoinedTrack& joined : joined_) TS_CHECK_OK(joined.join(step));
    return true;
  }

 private:
  Status read_report() {
    TS_TRY(const bool has_more, reports_->next(stored_));
    if (has_more) {
      now_s_ = stored_.time_s;
      take(stored_);
    } else {
      is_over_ = true;
      append(track_.finish());
    }
    return {};
  }

  void take(const StoredReport& stored) {
    const Report& report = stored.report;
    switch (report.kind) {
      case Report::Kind::step: {
        const auto key = track_of(stored.source, report);
        if (!key || key->source != survey_->source || key->name != survey_->track) return;
        append(track_.add(stored.time_s, report, key->source == kPipe ? batch_ : std::nullopt));
        return;
      }
      case Report::Kind::batch:
        batch_ = static_cast<double>(*report.number);
        return;
      case Report::Kind::begin:
      case Report::Kind::end:
      case Report::Kind::phase: {
        if (report.name != "input") return;
        const auto phase = phases_.add(stored);
        if (phase && phase->is_input()) add_wait(*phase);
        return;
      }
      default:
        return;
    }
  }

  void add_wait(const TrainingPhase& phase) {
    waits_.add(phase, !survey_->pauses.contains((phase.from_s + phase.to_s) / 2));
  }

  // Steps of the same time are a group, unless the job itself dates them.
  void append(std::optional<Step> step) {
    if (!step) return;
    if (count_++ == 0) step->covers = survey_->first_covers;
    const bool is_together = !groups_.empty() && survey_->may_arrive_together() &&
                             pending_.back().time_s == step->time_s;
    if (!is_together) groups_.push_back(0);
    ++groups_.back();
    held_numbers_ += step->numbers.size();
    pending_.push_back(std::move(*step));
  }

  // The steps of the first group are all there, and so are the waits that began before it.
  bool is_front_complete() const {
    if (is_over_ || groups_.empty()) return !groups_.empty();
    if (held_numbers_ >= kMaxHeldNumbers) return true;
    if (groups_.size() == 1) return pending_.size() >= kMaxGroup;
    return pending_.size() >= kMaxHeldBack || !may_lack_wait(pending_.front().time_s);
  }

  // May a wait for data have begun before this time that is not known yet? One that is open, or one
  // that is reported when it has ended. (The one that is open at the end was added at the begin.)
  bool may_lack_wait(double time_s) const {
    if (!survey_->has_input_phases) return false;
    constexpr double kRounding_s = 1e-6;
    if (now_s_ <= time_s + survey_->longest_input_s + kRounding_s) return true;
    const auto open_from_s = phases_.open_from("input");
    return open_from_s && *open_from_s < time_s && open_from_s != survey_->open_input_from_s;
  }

  void settle_front() {
    const size_t size = groups_.front();
    groups_.pop_front();
    const double to_s = pending_.front().time_s;
    std::optional<double> from_s = given_ == 0 ? first_step_began() : last_s_;
    // The rest of a group that was too large: its time was divided among the first steps.
    const bool is_rest = given_ > 0 && survey_->may_arrive_together() && to_s == last_s_;
    if (is_rest && !has_begin_) from_s.reset();
    has_begin_ = from_s.has_value();
    if (from_s && survey_->are_averages_known) {
      divide_among(size, *from_s, to_s, size == 1 && !is_rest && survey_->are_times_known);
    }
    for (size_t i = 0; i < size; ++i) complete(pending_[i], i == 0 ? last_s_ : to_s);
    last_s_ = to_s;
    waits_.forget_before(to_s);
    settled_ = size;
  }

  // The time from the report before to that of the first steps, which have it in common. `is_own`:
  // it is known of the only one.
  void divide_among(size_t size, double from_s, double to_s, bool is_own) {
    double covers = 0;
    for (size_t i = 0; i < size; ++i) covers += static_cast<double>(pending_[i].covers);
    const double each_s =
        std::max(0.0, to_s - from_s - survey_->pauses.within(from_s, to_s)) / covers;
    const double wait_s = survey_->has_input_phases ? waits_.within(from_s, to_s) / covers : 0;
    for (size_t i = 0; i < size; ++i) {
      Step& step = pending_[i];
      if (survey_->has_input_phases) step.input_wait_s = wait_s;
      if (!step.duration_s) (is_own ? step.duration_s : step.average_s) = each_s;
    }
  }

  // `before_s`: the time of the step before.
  void complete(Step& step, double before_s) {
    if (!step.throughput && step.items && step.duration_s && *step.duration_s > 0) {
      step.throughput = *step.items / *step.duration_s;
    }
    const bool is_first = given_ == 0;
    waits_.set_longest(is_first ? step.time_s - step.duration_s.value_or(0) : before_s, step);
    if (given_ < kMaxWarmup && survey_->is_warmup[given_]) step.kind = "warmup";
    ++given_;
  }

  // Where the job reports phases, the first of them began the first step.
  std::optional<double> first_step_began() const {
    const Step& first = pending_.front();
    const auto from_s = survey_->first_phase_from_s;
    return from_s && *from_s < first.time_s && first.covers == 1 ? from_s : std::nullopt;
  }

  std::shared_ptr<const Reports> all_;
  std::shared_ptr<const Survey> survey_;
  std::unique_ptr<Reader<StoredReport>> reports_;
  StoredReport stored_;
  StepTrack track_;
  PhaseTrack phases_;
  Waits waits_;
  std::vector<JoinedTrack> joined_;
  std::optional<double> batch_;  // as of the report that is being taken
  std::deque<Step> pending_;     // steps without their times; the first ones have them
  std::deque<size_t> groups_;    // how many of these came together, for those without times
  size_t settled_ = 0;           // how many of the first have their times
  size_t held_numbers_ = 0;      // of all these
  size_t count_ = 0, given_ = 0;
  double now_s_ = 0, last_s_ = 0;
  bool is_over_ = false;
  bool has_begin_ = false;  // when the last group began is known
};

}  // namespace

std::unique_ptr<Reader<Step>> read_steps(std::shared_ptr<const Reports> reports,
                                         std::shared_ptr<const Survey> survey,
                                         StepNumbers numbers) {
  return std::make_unique<StepReader>(std::move(reports), std::move(survey), numbers);
}

}  // namespace trainscope
