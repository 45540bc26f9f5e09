#include "training/training.h"

#include <fmt/format.h>

#include "base/text.h"
#include "training/details.h"
#include "training/step_reader.h"
#include "training/step_statistics.h"
#include "training/survey.h"
#include "training/surveyor.h"

namespace trainscope {

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
  TS_TRY(Surveyor surveyor, survey_reports(*reports, events));
  const auto survey = std::make_shared<Survey>(surveyor.finish(duration_s, events, training));
  if (training.observed > 0) {
    const auto steps = read_steps(reports, survey, StepNumbers::absent);
    TS_CHECK_OK(summarize_steps(*steps, *survey, training));
  }
  training.details = reported_details(std::move(reports), survey);
  return training;
}

}  // namespace trainscope
