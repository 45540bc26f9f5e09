// A comparison as JSON (schema trainscope.compare/1).
#include "base/json.h"
#include "document/document.h"

namespace trainscope {

namespace {

Json compared_side_json(const ComparedSide& side) {
  Json ids = Json::array(), details = Json::array();
  for (const ComparedRun& run : side.runs) {
    ids.push_back(run.id);
    details.push_back({{"id", run.id},
                       {"name", text_or_null(run.name)},
                       {"status", run.status},
                       {"duration_s", run.duration_s},
                       {"from_s", run.from_s},
                       {"to_s", run.to_s},
                       {"steps", value_or_null(run.steps)},
                       {"warmup_steps", run.warmup_steps},
                       {"verdict", text_or_null(run.verdict)},
                       {"cause", text_or_null(run.cause)}});
  }
  return {{"runs", std::move(ids)}, {"details", std::move(details)}};
}

Json compared_number_json(const ComparedNumber& number) {
  return {{"a", value_or_null(number.a)},
          {"b", value_or_null(number.b)},
          {"difference", value_or_null(number.difference)},
          {"difference_low", value_or_null(number.difference_low)},
          {"difference_high", value_or_null(number.difference_high)},
          {"ratio", value_or_null(number.ratio)},
          {"low", value_or_null(number.low)},
          {"high", value_or_null(number.high)},
          {"p", value_or_null(number.p)},
          {"p_adjusted", value_or_null(number.p_adjusted)},
          {"verdict", number.verdict},
          {"reason", text_or_null(number.reason)},
          {"values_needed", value_or_null(number.values_needed)},
          {"repeats_needed", value_or_null(number.repeats_needed)}};
}

Json compared_metric_json(const ComparedMetric& metric) {
  Json json = compared_number_json(metric.number);
  json["name"] = metric.name;
  json["labels"] = Json::object();
  for (const auto& [name, value] : metric.labels) json["labels"][name] = value;
  json["unit"] = metric.unit;
  json["main"] = metric.is_main;
  return json;
}

Json compared_speed_json(const ComparedSpeed& speed) {
  return {{"metric", speed.metric},
          {"a_step_s", value_or_null(speed.a_s)},
          {"b_step_s", value_or_null(speed.b_s)},
          {"ratio", value_or_null(speed.ratio)},
          {"low", value_or_null(speed.low)},
          {"high", value_or_null(speed.high)},
          {"p", value_or_null(speed.p)},
          {"verdict", speed.verdict},
          {"sentence", speed.sentence},
          {"reason", text_or_null(speed.reason)},
          {"steps_needed", value_or_null(speed.steps_needed)},
          {"repeats_needed", value_or_null(speed.repeats_needed)}};
}

Json attribution_json(const std::vector<AttributedPart>& attribution) {
  Json parts = Json::array();
  for (const AttributedPart& part : attribution) {
    parts.push_back({{"part", part.part},
                     {"a_s", part.a_s},
                     {"b_s", part.b_s},
                     {"difference_s", part.difference_s},
                     {"share", value_or_null(part.share)}});
  }
  return parts;
}

Json compare_explanation_json(const Comparison& comparison) {
  Json all = Json::array();
  for (const ComparisonExplanation& one : comparison.explanations) {
    all.push_back({{"question", one.question},
                   {"null_hypothesis", one.null_hypothesis},
                   {"test", one.test},
                   {"result", one.result}});
  }
  return all;
}

}  // namespace

Json comparison_json(const Comparison& comparison, bool explain) {
  Json metrics = Json::array(), warnings = Json::array();
  for (const ComparedMetric& metric : comparison.metrics) {
    metrics.push_back(compared_metric_json(metric));
  }
  for (const ComparisonWarning& warning : comparison.warnings) {
    warnings.push_back({{"id", warning.id}, {"summary", warning.summary}});
  }
  Json document = {{"schema", "trainscope.compare/1"},
                   {"a", compared_side_json(comparison.a)},
                   {"b", compared_side_json(comparison.b)},
                   {"about", comparison.is_between_runs ? "configurations" : "these_runs"},
                   {"compared_part", comparison.part_rule},
                   {"speed", compared_speed_json(comparison.speed)},
                   {"behaviour",
                    {{"verdict", comparison.behaviour.verdict},
                     {"sentence", comparison.behaviour.sentence},
                     {"p", value_or_null(comparison.behaviour.p)}}},
                   {"metrics", std::move(metrics)},
                   {"attribution", attribution_json(comparison.attribution)},
                   {"why", text_or_null(comparison.why)},
                   {"warnings", std::move(warnings)},
                   {"energy", nullptr},
                   {"cost", nullptr}};
  if (comparison.energy) {
    document["energy"] = compared_number_json(*comparison.energy);
    document["energy"]["of"] = comparison.energy_of;
    document["energy"]["unit"] = "J/{step}";
  }
  if (comparison.cost) {
    const std::string& currency = comparison.currency;
    document["cost"] = compared_number_json(*comparison.cost);
    document["cost"]["currency"] = text_or_null(currency);
    document["cost"]["unit"] = (currency.empty() ? "{money}" : currency) + "/{step}";
  }
  if (explain) document["explanation"] = compare_explanation_json(comparison);
  return document;
}

}  // namespace trainscope
