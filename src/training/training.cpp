#include "training/training.h"

#include <fmt/format.h>

#include "base/text.h"
#include "training/numbers.h"
#include "training/phase_track.h"
#include "training/step_reader.h"
#include "training/step_statistics.h"
#include "training/survey.h"

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

Status parse_stored_report(std::string_view line, StoredReport& stored) {
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return Error("malformed progress");
  const auto time_ns = parse_integer(line.substr(0, first));
  if (!time_ns) return Error("progress without a time");
  stored.time_s = static_cast<double>(*time_ns) / 1e9;
  stored.source = line.substr(first + 1, second - first - 1);
  return parse_report(line.substr(second + 1), stored.report);
}

std::string format_stored_report(int64_t time_ns, std::string_view source, const Report& report) {
  return fmt::format("{} {} {}\n", time_ns, source, format_report(report));
}

Result<Training> read_training(std::shared_ptr<const Reports> reports, double duration_s,
                               std::span<const Event> events) {
  Training training;
  TS_TRY(Survey surveyed, survey_training(*reports, duration_s, events, training));
  const auto survey = std::make_shared<Survey>(std::move(surveyed));
  if (training.observed > 0) {
    const auto steps = read_steps(reports, survey, StepNumbers::absent);
    TS_CHECK_OK(summarize_steps(*steps, *survey, training));
  }
  training.details = std::make_shared<ReportedDetails>(std::move(reports), survey);
  return training;
}

}  // namespace trainscope
