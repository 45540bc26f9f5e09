#include "cli/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "analyze/analyze.h"
#include "base/bounded_child.h"
#include "base/text.h"
#include "cli/print.h"
#include "cli/summary.h"
#include "cli/tags.h"
#include "collect/collect.h"
#include "model/switch_setting.h"
#include "probe/probe.h"
#include "record/record.h"
#include "store/store.h"

namespace trainscope {

namespace {

Status check_range(int64_t value_ns, const DurationField& field, const std::string& origin,
                   std::string_view given) {
  if (value_ns >= field.min_ns && value_ns <= field.max_ns) return {};
  return Error(fmt::format("{}: '{}' is out of range: {} is accepted", origin, printable(given),
                           field.range));
}

// Reads the values of one setting into its member; one overload per kind of member.
class FieldReader {
 public:
  FieldReader(const SettingSpec& spec, const Settings& settings, RunOptions& options)
      : spec_(spec),
        origin_(setting_origin(settings.get(spec.name))),
        values_(settings.values(spec.name)),
        options_(options) {}

  Status operator()(const TextField& field) {
    TS_CHECK_OK(check_text(origin_, text()));
    if (field.check != nullptr && !text().empty()) {
      TS_CHECK_OK(field.check(text()).with_context(origin_));
    }
    options_.*field.member = text();
    return {};
  }

  Status operator()(const DurationField& field) {
    if (is_unset()) return {};
    auto parsed = field.min_ns == 0  ? parse_duration_or_zero(text())
                  : field.needs_unit ? parse_period(text())
                                     : parse_duration(text());
    TS_TRY(const int64_t value_ns, std::move(parsed).with_context(origin_));
    TS_CHECK_OK(check_range(value_ns, field, origin_, text()));
    options_.*field.member_ns = value_ns;
    return {};
  }

  Status operator()(const IntegerField& field) {
    if (is_unset()) return {};
    const auto value = parse_integer(text());
    if (!value || *value < field.min || *value > field.max) {
      return Error(fmt::format("{}: '{}' is not an integer from {} to {}", origin_,
                               printable(text()), field.min, field.max));
    }
    options_.*field.member = *value;
    return {};
  }

  Status operator()(const SwitchField& field) {
    const std::string value = lower(text());
    const bool is_yes = means_on(value);
    const bool is_no = value == "false" || value == "0" || value == "no" || value == "off";
    if (!is_yes && !is_no && !value.empty()) {
      return Error(fmt::format("{}: '{}' is neither true nor false", origin_, printable(text())));
    }
    options_.*field.member = is_yes;
    return {};
  }

  Status operator()(const ListField& field) {
    if (field.check != nullptr && !values_.empty()) {
      TS_CHECK_OK(field.check(values_).with_context(origin_));
    }
    options_.*field.member = values_;
    return {};
  }

  Status operator()(const PairsField& field) {
    TS_TRY(options_.*field.member, parse_tags(values_).with_context(origin_));
    return {};
  }

 private:
  const std::string& text() const { return values_.front(); }
  // Without a value and without a default, the member stays unchanged.
  bool is_unset() const { return text().empty() && spec_.default_value.empty(); }

  const SettingSpec& spec_;
  const std::string origin_;
  const std::vector<std::string>& values_;
  RunOptions& options_;
};

// Set by scripts that were written for Score-P.
constexpr const char* kScorepCounters = "SCOREP_METRIC_FILEPARSER_PLUGIN";
constexpr const char* kScorepPeriod = "SCOREP_METRIC_FILEPARSER_PLUGIN_PERIOD";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A period in microseconds, unless another one was chosen.
Status take_scorep_period(Settings& settings) {
  const std::string text = variable(kScorepPeriod);
  if (text.empty() || settings.get("every").from != "default") return {};
  const auto us = parse_integer(trim(text));
  if (!us || *us < kShortestPeriodNs / 1000 || *us > kLongestPeriodNs / 1000) {
    return Error(fmt::format("{}: '{}' is not a number of microseconds from 1000 to 3600000000",
                             kScorepPeriod, printable(text)));
  }
  settings.replace("every", {fmt::format("{}us", *us)}, "environment");
  return {};
}

// Score-P's counters are used where no other source has any.
Status take_scorep_counters(Settings& settings) {
  const std::string specs = variable(kScorepCounters);
  if (specs.empty() || !settings.values("counter").empty()) return {};
  TS_CHECK_OK(check_counters({specs}).with_context(kScorepCounters));
  settings.replace("counter", {specs}, "environment");
  return take_scorep_period(settings);
}

}  // namespace

Status check_text(const std::string& origin, std::string_view text) {
  constexpr size_t kMaxBytes = 4096;
  if (text.size() <= kMaxBytes) return {};
  return Error(
      fmt::format("{} is {} bytes long; at most {} are accepted", origin, text.size(), kMaxBytes));
}

Status check_period(int64_t every_ns, const std::string& origin, const std::string& given) {
  return check_range(every_ns, {nullptr, kShortestPeriodNs, kLongestPeriodNs, kPeriodRange}, origin,
                     given);
}

void add_recording_flags(Options& options, const std::shared_ptr<Settings>& settings,
                         std::string_view command) {
  for (const SettingSpec& spec : setting_specs()) {
    if (!spec.is_for(command)) continue;
    options.add(setting_option(spec, [settings, &spec](const std::string& value) {
      settings->set_from_flag(spec.name, spec.is_switch() ? "true" : value);
    }));
  }
}

Result<RunOptions> recording_options(Settings settings) {
  TS_CHECK_OK(take_scorep_counters(settings));
  RunOptions options;
  for (const SettingSpec& spec : setting_specs()) {
    TS_CHECK_OK(std::visit(FieldReader(spec, settings, options), spec.field));
  }
  options.settings = settings.all();
  return options;
}

namespace {

Result<std::unique_ptr<RunView>> open_ended(const RecordOutcome& outcome) {
  return outcome.is_end_stored ? open_run(outcome.run_path)
                               : open_run(outcome.run_path, outcome.manifest);
}

// By what other ranks of the job recorded on its machine too.
Result<Diagnosis> diagnose_ended(const RecordOutcome& outcome, const RunView& run) {
  const Manifest& manifest = run.manifest();
  if (manifest.records_machine && manifest.world_size < 2) return diagnose(run);
  TS_TRY(auto again, open_ended(outcome));
  return diagnose(*with_machine_series(std::move(again)));
}

// The diagnosis is stored; a failure to do so leaves it to `diagnose`.
std::string conclusion_text(const RecordOutcome& outcome, bool colour) {
  const std::string& run_path = outcome.run_path;
  const auto run = open_ended(outcome);
  if (!run) {
    return fmt::format("trainscope: the run cannot be read back: {}\n", run.error().message());
  }
  if ((*run)->duration_s() < kLeastTrainingS) return summary_text(**run, {}, colour);
  auto diagnosis = diagnose_ended(outcome, **run);
  if (diagnosis) {
    (void)store_verdict(
        run_path, {diagnosis->verdict, diagnosis->cause, diagnosis->confidence, kRulesVersion});
    // What is shown promises no more than a probe has proven, as `diagnose` does.
    const auto proof = read_probe(**run);
    if (proof && *proof) bound_by_proof(**proof, *diagnosis);
  }
  return summary_text(**run, diagnosis ? *diagnosis : Diagnosis(), colour);
}

}  // namespace

void conclude_run(const RecordOutcome& outcome, bool quiet) {
  if (!outcome.is_closed) return;  // the reason has been printed
  // Nothing would be said and nothing concluded.
  if (quiet && outcome.manifest.duration_s.value_or(0) < kLeastTrainingS) return;
  const bool colour = colour_wanted(STDERR_FILENO);
  const ChildAnswer answer =
      ask_child(reading_limits(), [&] { return conclusion_text(outcome, colour); });
  if (quiet) return;
  if (answer.end == ChildEnd::done) {
    print_message_text(answer.text);
  } else {
    print_message("trainscope: no summary: {}; try: trainscope info {}\n", answer.text,
                  outcome.manifest.id);
  }
}

}  // namespace trainscope
