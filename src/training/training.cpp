#include "training/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "training/details.h"
#include "training/step_reader.h"
#include "training/step_statistics.h"
#include "training/survey.h"
#include "training/surveyor.h"

namespace trainscope {

Status parse_stored_report(std::string_view line, StoredReport& stored) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return Error("malformed progress");
  const auto time_ns = parse_integer(line.substr(0, space));
  if (!time_ns) return Error("progress without a time");
  return parse_stored_report(*time_ns, line.substr(space + 1), stored);
}

Status parse_stored_report(int64_t time_ns, std::string_view rest, StoredReport& stored) {
  const size_t space = rest.find(' ');
  if (space == std::string_view::npos) return Error("malformed progress");
  stored.time_s = static_cast<double>(time_ns) / 1e9;
  stored.source = rest.substr(0, space);
  return parse_report(rest.substr(space + 1), stored.report);
}

bool concerns_steps(std::string_view rest) {
  rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with("step") || rest.starts_with("batch")) return true;
  return rest.find("input") != std::string_view::npos ||
         rest.find("communication") != std::string_view::npos;
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
