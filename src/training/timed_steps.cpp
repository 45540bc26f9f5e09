#include "training/timed_steps.h"

#include <algorithm>

#include "training/tracks.h"

namespace trainscope {

namespace {

constexpr size_t kMaxHeldBack = 100'000;
constexpr size_t kMaxGroup = 250'000;  // more than the shortest lines that fill the pipe
// With names of up to 15 characters 40 MB; four times as many as fit into the pipe.
constexpr size_t kMaxHeldNumbers = 1'000'000;
constexpr size_t kMaxWaits = 1'000'000;
constexpr double kRounding_s = 1e-6;

}  // namespace

void Waits::add(const TrainingPhase& phase, bool is_counted) {
  if (waits_.size() == kMaxWaits) return;
  const auto after =
      std::upper_bound(waits_.begin(), waits_.end(), phase.from_s,
                       [](double from_s, const Wait& wait) { return from_s < wait.from_s; });
  waits_.insert(after, {phase.from_s, phase.to_s, is_counted});
}

double Waits::within(double from_s, double to_s) const {
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

void Waits::set_longest(double from_s, Step& step) const {
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

void Waits::forget_before(double time_s) {
  std::vector<Wait> lasting;
  for (; !waits_.empty() && waits_.front().from_s < time_s; waits_.pop_front()) {
    if (waits_.front().to_s > time_s) lasting.push_back(waits_.front());
  }
  waits_.insert(waits_.begin(), lasting.begin(), lasting.end());
}

TimedSteps::TimedSteps(std::shared_ptr<const Survey> survey, StepNumbers numbers)
    : survey_(std::move(survey)), track_(survey_->names, numbers), phases_(survey_->sender) {}

void TimedSteps::take_open_wait(double from_s, double to_s) {
  add_wait({"input", "", from_s, std::max(from_s, to_s), true});
}

void TimedSteps::finish() {
  is_over_ = true;
  append(track_.finish());
}

bool TimedSteps::next(Step& step) {
  if (settled_ == 0 && is_front_complete()) settle_front();
  if (settled_ == 0) return false;
  step = std::move(pending_.front());
  pending_.pop_front();
  --settled_;
  held_numbers_ -= step.numbers.size();
  return true;
}

void TimedSteps::take(const StoredReport& stored) {
  const Report& report = stored.report;
  now_s_ = stored.time_s;
  switch (report.kind) {
    case Report::Kind::step: {
      (void)phases_.add(stored);
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
      if (report.name != "input" && report.name != "communication") return;
      const auto phase = phases_.add(stored);
      if (phase && phase->is_input()) add_wait(*phase);
      if (phase && phase->who.empty() && !phase->is_input()) add_communication(*phase);
      return;
    }
    default:
      return;
  }
}

void TimedSteps::add_wait(const TrainingPhase& phase) {
  waits_.add(phase, !survey_->pauses.contains((phase.from_s + phase.to_s) / 2));
}

void TimedSteps::add_communication(const TrainingPhase& phase) {
  has_communication_ = true;
  communication_.add(phase, true);
}

// Steps of the same time are a group.
void TimedSteps::append(std::optional<Step> step) {
  if (!step) return;
  if (count_++ == 0) step->covers = survey_->first_covers;
  const bool is_together = !groups_.empty() && pending_.back().time_s == step->time_s;
  if (!is_together) groups_.push_back(0);
  ++groups_.back();
  held_numbers_ += step->numbers.size();
  pending_.push_back(std::move(*step));
}

// The steps of the first group are all there, and so are the waits that began before it.
bool TimedSteps::is_front_complete() const {
  if (is_over_ || groups_.empty()) return !groups_.empty();
  if (held_numbers_ >= kMaxHeldNumbers) return true;
  if (groups_.size() == 1) return pending_.size() >= kMaxGroup;
  return pending_.size() >= kMaxHeldBack || !may_lack_wait(pending_.front().time_s);
}

// May a wait for data have begun before this time that is not known yet? One that is open, or one
// that is reported when it has ended. (The one that is open at the end was added at the begin.)
bool TimedSteps::may_lack_wait(double time_s) const {
  if (!survey_->has_input_phases) return false;
  if (now_s_ <= time_s + survey_->longest_input_s + kRounding_s) return true;
  const auto open_from_s = phases_.open_from("input");
  return open_from_s && *open_from_s < time_s && open_from_s != survey_->open_input_from_s;
}

void TimedSteps::settle_front() {
  const size_t size = groups_.front();
  groups_.pop_front();
  const double to_s = pending_.front().time_s;
  std::optional<double> from_s = given_ == 0 ? first_step_began() : last_s_;
  // The rest of a group that was too large: its time was divided among the first steps.
  const bool is_rest = given_ > 0 && to_s == last_s_;
  if (is_rest && !has_begin_) from_s.reset();
  has_begin_ = from_s.has_value();
  if (from_s && survey_->are_averages_known) {
    divide_among(size, *from_s, to_s, size == 1 && !is_rest && survey_->are_times_known);
  }
  for (size_t i = 0; i < size; ++i) complete(pending_[i], i == 0 ? last_s_ : to_s);
  last_s_ = to_s;
  waits_.forget_before(to_s);
  communication_.forget_before(to_s);
  settled_ = size;
}

// The time from the report before to that of the first steps, which have it in common. `is_own`:
// it is known of the only one.
void TimedSteps::divide_among(size_t size, double from_s, double to_s, bool is_own) {
  double covers = 0;
  for (size_t i = 0; i < size; ++i) covers += static_cast<double>(pending_[i].covers);
  const double each_s =
      std::max(0.0, to_s - from_s - survey_->pauses.within(from_s, to_s)) / covers;
  const double wait_s = survey_->has_input_phases ? waits_.within(from_s, to_s) / covers : 0;
  const double communication_s =
      has_communication_ ? communication_.within(from_s, to_s) / covers : 0;
  for (size_t i = 0; i < size; ++i) {
    Step& step = pending_[i];
    if (survey_->has_input_phases) step.input_wait_s = wait_s;
    if (has_communication_) step.communication_s = communication_s;
    if (!step.duration_s) (is_own ? step.duration_s : step.average_s) = each_s;
  }
}

// `before_s`: the time of the step before.
void TimedSteps::complete(Step& step, double before_s) {
  if (!step.throughput && step.items && step.duration_s && *step.duration_s > 0) {
    step.throughput = *step.items / *step.duration_s;
  }
  const bool is_first = given_ == 0;
  // A wait that began the first step must not seem to be before it by the last bit of a difference.
  const double first_from_s = step.time_s - step.duration_s.value_or(0) - kRounding_s;
  waits_.set_longest(is_first ? first_from_s : before_s, step);
  if (given_ < kMaxWarmup && survey_->is_warmup[given_]) step.kind = "warmup";
  ++given_;
}

// Where the job reports phases, the first of them began the first step.
std::optional<double> TimedSteps::first_step_began() const {
  const Step& first = pending_.front();
  const auto from_s = survey_->first_phase_from_s;
  return from_s && *from_s < first.time_s && first.covers == 1 ? from_s : std::nullopt;
}

}  // namespace trainscope
