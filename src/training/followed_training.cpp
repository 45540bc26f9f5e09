// The fold behind TrainingFollower: a Surveyor and TimedSteps that take what is reported, and
// copies of both that are finished whenever the training is shown.
#include <map>
#include <utility>

#include "training/details.h"
#include "training/held_steps.h"
#include "training/numbers.h"
#include "training/step_statistics.h"
#include "training/surveyor.h"
#include "training/timed_steps.h"
#include "training/training.h"

namespace trainscope {

namespace {

constexpr size_t kMaxSenders = 10'000;
const std::optional<Training> kNotFollowed = std::nullopt;

class FollowedTraining : public TrainingFollower {
 public:
  explicit FollowedTraining(StepsToFollow kind) : kind_(kind) {}

  Result<Training> begin(const std::shared_ptr<const Reports>& reports, double duration_s,
                         std::span<const Event> events) override {
    TS_TRY(surveyor_, survey_reports(*reports, events));
    Training training;
    const Survey survey = survey_now(duration_s, events, training);
    const bool fits =
        kind_ == StepsToFollow::fresh || training.observed <= static_cast<int64_t>(kMaxHeldSteps);
    can_continue_ = training.observed > 0 && fits && survey.joined.empty();
    if (can_continue_) TS_CHECK_OK(begin_steps(*reports, survey));
    if (!can_continue_) return read_training(reports, duration_s, events);
    const Survey final_survey = show_all(survey, training);
    if (kind_ == StepsToFollow::all) return training;
    survey_->is_warmup = final_survey.is_warmup;  // decided once: the first steps are written
    summary_ = {};
    training.details = reported_details(reports, std::make_shared<Survey>(final_survey));
    return training;
  }

  Result<std::optional<Training>> add(const Reports& more, double duration_s,
                                      std::span<const Event> events) override {
    if (!std::exchange(can_continue_, false)) return kNotFollowed;
    TS_TRY(const bool is_in_order, take_for_survey(more));
    Training training;
    const Survey survey = survey_now(duration_s, events, training);
    const bool is_output_refused = !reason_in(events, kOutputIsShared).empty();
    if (!is_in_order || is_output_refused != survey.is_output_refused || !continues(survey)) {
      return kNotFollowed;
    }
    set_survey(survey);
    fresh_.clear();
    TS_CHECK_OK(take_for_steps(more));
    if (!can_continue_) return kNotFollowed;
    if (kind_ == StepsToFollow::all) {
      show_all(survey, training);
    } else {
      training.details = listed_details(std::move(fresh_));
    }
    return std::optional(std::move(training));
  }

 private:
  Survey survey_now(double duration_s, std::span<const Event> events, Training& training) const {
    return Surveyor(*surveyor_).finish(duration_s, events, training);
  }

  // For steps that are complete: a wait that is open now goes on, and warm-up is decided once.
  void set_survey(const Survey& survey) {
    const auto is_warmup = survey_->is_warmup;
    *survey_ = survey;
    survey_->open_input_from_s.reset();
    survey_->is_warmup = is_warmup;
  }

  Status begin_steps(const Reports& reports, const Survey& survey) {
    survey_ = std::make_shared<Survey>();
    set_survey(survey);
    filter_.emplace(survey.is_output_refused);
    last_s_.clear();
    steps_.emplace(survey_,
                   kind_ == StepsToFollow::fresh ? StepNumbers::present : StepNumbers::absent);
    summary_ = {};
    held_ = std::make_shared<HeldSteps>();
    results_ = {};
    shown_results_.reset();
    is_beginning_ = true;
    TS_CHECK_OK(take_for_steps(reports));
    is_beginning_ = false;
    return {};
  }

  // Returns whether the reports of each sender are in order of time and after those before.
  Result<bool> take_for_survey(const Reports& more) {
    CountedFilter filter = *filter_;
    const auto reader = more.read();
    for (StoredReport stored;;) {
      TS_TRY(const bool has_more, reader->next(stored));
      if (!has_more) return true;
      if (!filter.counts(stored)) continue;
      const auto last = last_s_.find({stored.source, stored.report.who});
      if (last != last_s_.end() && stored.time_s < last->second) return false;
      surveyor_->take(stored);
    }
  }

  Status take_for_steps(const Reports& reports) {
    TS_CHECK_OK(read_for_steps(reports));
    results_.settle();
    return {};
  }

  Status read_for_steps(const Reports& reports) {
    const auto reader = reports.read();
    for (StoredReport stored;;) {
      TS_TRY(const bool has_more, reader->next(stored));
      if (!has_more) break;
      if (!filter_->counts(stored)) continue;
      last_s_[{stored.source, stored.report.who}] = stored.time_s;
      steps_->take(stored);
      if (kind_ == StepsToFollow::all) hold_results(stored);
      for (Step step; steps_->next(step);) give(std::move(step));
      if (held_->size() > kMaxHeldSteps || last_s_.size() > kMaxSenders) {
        held_.reset();
        can_continue_ = false;
        return {};
      }
    }
    can_continue_ = true;
    return {};
  }

  // What is not in the steps.
  void hold_results(const StoredReport& stored) {
    numbers_.clear();
    append_numbers(stored, numbers_);
    const bool is_step = stored.report.kind == Report::Kind::step;
    const bool is_of_steps =
        is_step && stored.source == survey_->source && stored.report.who == survey_->sender;
    for (TrainingNumber& number : numbers_) {
      if (is_of_steps && number.set == "train") continue;
      results_.add(std::move(number));
      shown_results_.reset();
    }
  }

  void give(Step step) {
    if (kind_ == StepsToFollow::all) held_->add(step, survey_->has_input_phases);
    if (kind_ == StepsToFollow::all || is_beginning_) {
      summary_.add(step);
    } else {
      fresh_.push_back(std::move(step));
    }
  }

  // Are the steps that were given the same by this survey?
  bool continues(const Survey& now) const {
    const Survey& before = *survey_;
    const double last_s = steps_->last_s();
    return surveyor_->sender() == before.sender && now.source == before.source &&
           now.track == before.track && now.names.loss == before.names.loss &&
           now.names.accuracy == before.names.accuracy && now.joined.empty() &&
           now.first_covers == before.first_covers &&
           now.are_averages_known == before.are_averages_known &&
           now.are_times_known == before.are_times_known &&
           now.has_input_phases == before.has_input_phases &&
           now.first_phase_from_s == before.first_phase_from_s &&
           now.pauses.within(0, last_s) == before.pauses.within(0, last_s);
  }

  // Fills the training with all steps, the last ones as far as they are known. Returns the survey
  // with the warm-up.
  Survey show_all(Survey survey, Training& training) {
    TimedSteps steps = *steps_;
    if (const auto from_s = survey.open_input_from_s) {
      steps.take_open_wait(*from_s, survey.duration_s);
    }
    steps.finish();
    StepSummary summary = summary_;
    std::vector<Step> last;
    for (Step step; steps.next(step);) {
      summary.add(step);
      last.push_back(std::move(step));
    }
    summary.finish(survey, training);
    if (kind_ == StepsToFollow::all) set_milestones(last, training);
    // Others read what was shown while more results are added.
    if (!shown_results_) shown_results_ = std::make_shared<HeldResults>(results_);
    training.details = held_details({held_, shown_results_}, std::move(last), survey);
    return survey;
  }

  void set_milestones(const std::vector<Step>& last, Training& training) const {
    for (SetResults& results : training.results) {
      for (SetResults::Milestone& milestone : results.milestones) {
        milestone.step = held_->last_at(milestone.time_s);
        for (const Step& step : last) {
          if (step.time_s <= milestone.time_s) milestone.step = step.step;
        }
      }
    }
  }

  const StepsToFollow kind_;
  bool can_continue_ = false, is_beginning_ = false;
  std::optional<Surveyor> surveyor_;
  std::optional<CountedFilter> filter_;
  std::map<std::pair<std::string, std::string>, double> last_s_;  // by source and sender
  std::shared_ptr<Survey> survey_;                                // of the steps that are complete
  std::optional<TimedSteps> steps_;
  StepSummary summary_;
  std::shared_ptr<HeldSteps> held_;  // empty unless all steps are followed
  HeldResults results_;
  std::shared_ptr<const HeldResults> shown_results_;  // a copy; none: others came since
  std::vector<TrainingNumber> numbers_;               // of the last report
  std::vector<Step> fresh_;
};

}  // namespace

std::unique_ptr<TrainingFollower> follow_training(StepsToFollow steps) {
  return std::make_unique<FollowedTraining>(steps);
}

}  // namespace trainscope
