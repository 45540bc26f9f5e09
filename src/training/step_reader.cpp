#include "training/step_reader.h"

#include "training/step_track.h"
#include "training/timed_steps.h"
#include "training/tracks.h"

namespace trainscope {

namespace {

// A number of the event files next to the one that counts the steps: its values by step.
class JoinedTrack {
 public:
  JoinedTrack(const Reports& reports, const Survey& survey, std::string name)
      : name_(std::move(name)),
        reports_(read_counted(reports, survey.is_output_refused, ReportsWanted::of_steps)),
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

class StepReader : public Reader<Step> {
 public:
  StepReader(std::shared_ptr<const Reports> reports, const std::shared_ptr<const Survey>& survey,
             StepNumbers numbers)
      : all_(std::move(reports)),
        reports_(read_counted(*all_, survey->is_output_refused, ReportsWanted::of_steps)),
        steps_(survey, numbers) {
    for (const std::string& name : survey->joined) joined_.emplace_back(*all_, *survey, name);
    if (survey->open_input_from_s) {
      steps_.take_open_wait(*survey->open_input_from_s, survey->duration_s);
    }
  }

  Result<bool> next(Step& step) override {
    while (!steps_.next(step)) {
      if (is_over_) return false;
      TS_TRY(const bool has_more, reports_->next(stored_));
      is_over_ = !has_more;
      if (has_more) {
        steps_.take(stored_);
      } else {
        steps_.finish();
      }
    }
    for (JoinedTrack& joined : joined_) TS_CHECK_OK(joined.join(step));
    return true;
  }

 private:
  std::shared_ptr<const Reports> all_;
  std::unique_ptr<Reader<StoredReport>> reports_;
  StoredReport stored_;
  TimedSteps steps_;
  std::vector<JoinedTrack> joined_;
  bool is_over_ = false;
};

}  // namespace

std::unique_ptr<Reader<Step>> read_steps(std::shared_ptr<const Reports> reports,
                                         const std::shared_ptr<const Survey>& survey,
                                         StepNumbers numbers) {
  return std::make_unique<StepReader>(std::move(reports), survey, numbers);
}

}  // namespace trainscope
