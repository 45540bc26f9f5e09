#include "training/details.h"

#include "training/numbers.h"
#include "training/phase_track.h"
#include "training/step_reader.h"

namespace trainscope {

namespace {

class PhaseReader : public Reader<TrainingPhase> {
 public:
  PhaseReader(std::shared_ptr<const Reports> reports, std::shared_ptr<const Survey> survey)
      : all_(std::move(reports)),
        survey_(std::move(survey)),
        reports_(read_counted(*all_, survey_->is_output_refused)),
        track_(survey_->sender) {}

  Result<bool> next(TrainingPhase& phase) override {
    while (!is_over_) {
      TS_TRY(const bool has_more, reports_->next(stored_));
      if (has_more) {
        auto ended = track_.add(stored_);
        if (!ended) continue;
        phase = std::move(*ended);
        return true;
      }
      is_over_ = true;
      open_ = track_.finish(survey_->duration_s);
    }
    if (open_given_ == open_.size()) return false;
    phase = open_[open_given_++];
    return true;
  }

 private:
  std::shared_ptr<const Reports> all_;
  std::shared_ptr<const Survey> survey_;
  std::unique_ptr<Reader<StoredReport>> reports_;
  PhaseTrack track_;
  StoredReport stored_;
  bool is_over_ = false;
  std::vector<TrainingPhase> open_;
  size_t open_given_ = 0;
};

class NumberReader : public Reader<TrainingNumber> {
 public:
  NumberReader(std::shared_ptr<const Reports> reports, bool is_output_refused)
      : all_(std::move(reports)), reports_(read_counted(*all_, is_output_refused)) {}

  Result<bool> next(TrainingNumber& number) override {
    while (given_ == numbers_.size()) {
      numbers_.clear();
      given_ = 0;
      TS_TRY(const bool has_more, reports_->next(stored_));
      if (!has_more) return false;
      append_numbers(stored_, numbers_);
    }
    number = std::move(numbers_[given_++]);
    return true;
  }

 private:
  std::shared_ptr<const Reports> all_;
  std::unique_ptr<Reader<StoredReport>> reports_;
  StoredReport stored_;
  std::vector<TrainingNumber> numbers_;  // of the last report
  size_t given_ = 0;
};

class ReportedDetails : public TrainingDetails {
 public:
  ReportedDetails(std::shared_ptr<const Reports> reports, std::shared_ptr<const Survey> survey)
      : reports_(std::move(reports)), survey_(std::move(survey)) {}

  std::unique_ptr<Reader<Step>> steps() const override {
    return read_steps(reports_, survey_, StepNumbers::present);
  }
  std::unique_ptr<Reader<TrainingPhase>> phases() const override {
    return std::make_unique<PhaseReader>(reports_, survey_);
  }
  std::unique_ptr<Reader<TrainingNumber>> numbers() const override {
    return std::make_unique<NumberReader>(reports_, survey_->is_output_refused);
  }

 private:
  std::shared_ptr<const Reports> reports_;
  std::shared_ptr<const Survey> survey_;
};

}  // namespace

std::shared_ptr<const TrainingDetails> reported_details(std::shared_ptr<const Reports> reports,
                                                        std::shared_ptr<const Survey> survey) {
  return std::make_shared<ReportedDetails>(std::move(reports), std::move(survey));
}

}  // namespace trainscope
