#include "export/support/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "export/support/header.h"
#include "export/support/text.h"

namespace trainscope {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kKind = "kind";

void append_known(std::string& out, const std::optional<double>& value) {
  if (value) append_value(out, *value);
}

struct StepColumn {
  std::string_view name;
  void (*append)(std::string& out, const Step& step);  // nothing if it is unknown
};
constexpr StepColumn kStepColumns[] = {
    {"step", [](std::string& out, const Step& step) { out += std::to_string(step.step); }},
    {"reported_step",
     [](std::string& out, const Step& step) {
       if (step.reported_number) out += std::to_string(*step.reported_number);
     }},
    {"epoch", [](std::string& out, const Step& step) { append_known(out, step.epoch); }},
    {"time_s", [](std::string& out, const Step& step) { append_time(out, step.time_s); }},
    {"duration_s", [](std::string& out, const Step& step) { append_known(out, step.duration_s); }},
    {"covers", [](std::string& out, const Step& step) { out += std::to_string(step.covers); }},
    {"input_wait_s",
     [](std::string& out, const Step& step) { append_known(out, step.input_wait_s); }},
    {"loss", [](std::string& out, const Step& step) { append_known(out, step.loss); }},
    {"accuracy", [](std::string& out, const Step& step) { append_known(out, step.accuracy); }},
    {"throughput", [](std::string& out, const Step& step) { append_known(out, step.throughput); }},
};

// The column of a number that the job named.
std::string column_of_number(const std::string& name) {
  constexpr std::string_view kPrefix = "reported_";
  const bool is_taken = name == kKind || name.starts_with(kPrefix) ||
                        std::any_of(std::begin(kStepColumns), std::end(kStepColumns),
                                    [&](const StepColumn& column) { return column.name == name; });
  return is_taken ? std::string(kPrefix) + name : name;
}

// The numbers that steps have besides kStepColumns, by name, and the place of each among them.
using NumberPlaces = std::map<std::string, size_t, std::less<>>;

Result<std::vector<std::string>> list_numbers(const RunView& run, const Range& range,
                                              NumberPlaces& places) {
  std::vector<std::string> names;
  TS_CHECK_OK(for_each_step(run, range, [&](const Step& step) -> Status {
    for (const auto& [name, value] : step.numbers) {
      if (places.contains(name)) continue;
      if (names.size() == kMaxStepNumbers) {
        return Error(fmt::format(
            "the job reported more than {} different numbers with its steps; use --to jsonl",
            kMaxStepNumbers));
      }
      places.emplace(name, names.size());
      names.push_back(name);
    }
    return {};
  }));
  return names;
}

void append_header_row(std::string& out, const std::vector<std::string>& numbers) {
  for (const StepColumn& column : kStepColumns) {
    out += column.name;
    out += ',';
  }
  out += kKind;
  for (const std::string& name : numbers) {
    out += ',';
    append_csv_field(out, column_of_number(name));
  }
  out += kLineEnd;
}

}  // namespace

Status for_each_step(const RunView& run, const Range& range,
                     const std::function<Status(const Step&)>& take) {
  const auto& details = run.training().details;
  if (details == nullptr) return {};
  const auto reader = details->steps();
  for (Step step;;) {
    TS_TRY(const bool has_more, reader->next(step));
    if (!has_more || (range.end_s && step.time_s >= *range.end_s)) return {};
    if (!range.begin_s || step.time_s >= *range.begin_s) TS_CHECK_OK(take(step));
  }
}

Status write_steps_csv(const RunView& run, const ExportOptions& options, const ExportSink& sink) {
  NumberPlaces places;
  TS_TRY(const std::vector<std::string> numbers, list_numbers(run, options.range, places));
  TextBuffer buffer(sink);
  append_header_row(buffer.text(), numbers);
  std::vector<std::optional<double>> fields;
  TS_CHECK_OK(for_each_step(run, options.range, [&](const Step& step) {
    std::string& out = buffer.text();
    for (const StepColumn& column : kStepColumns) {
      column.append(out, step);
      out += ',';
    }
    out += step.kind;
    fields.assign(numbers.size(), std::nullopt);
    for (const auto& [name, value] : step.numbers) fields[places.find(name)->second] = value;
    for (const auto& field : fields) {
      out += ',';
      append_known(out, field);
    }
    out += kLineEnd;
    return buffer.pass_on_when_full();
  }));
  return buffer.pass_on();
}

std::string steps_header_line(const RunView& run) {
  const Training& training = run.training();
  Json header = header_of_run(run);
  header["rows"] = "steps";
  header["steps"] = {{"source", text_or_null(training.source)},
                     {"count", value_or_null(training.count)},
                     {"observed", training.observed},
                     {"reason", text_or_null(training.reason)}};
  return dump_json(header) + "\n";
}

void append_step_line(std::string& out, const Step& step) {
  out += '{';
  for (const StepColumn& column : kStepColumns) {
    fmt::format_to(std::back_inserter(out), "\"{}\":", column.name);
    const size_t begin = out.size();
    column.append(out, step);
    out += out.size() == begin ? "null," : ",";
  }
  fmt::format_to(std::back_inserter(out), "\"{}\":\"{}\"", kKind, step.kind);
  for (const auto& [name, value] : step.numbers) {
    out += "," + dump_json(Json(column_of_number(name))) + ":";
    append_value(out, value);
  }
  out += "}\n";
}

Status write_steps_jsonl(const RunView& run, const ExportOptions& options, const ExportSink& sink) {
  TextBuffer buffer(sink);
  buffer.text() = steps_header_line(run);
  TS_CHECK_OK(for_each_step(run, options.range, [&](const Step& step) {
    append_step_line(buffer.text(), step);
    return buffer.pass_on_when_full();
  }));
  return buffer.pass_on();
}

}  // namespace trainscope
