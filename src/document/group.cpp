// The document of `info GROUP --json`: every key is always present, unknown values are null.
#include "base/json.h"
#include "document/document.h"

namespace trainscope {

namespace {

Json member_json(const GroupSummary& summary, size_t at) {
  const RunListing& run = summary.members[at].run;
  const auto& values = summary.members[at].values;
  const Manifest& m = run.manifest;
  const auto machine = machine_member(summary, at);
  Json json = {
      {"id", m.id},
      {"name", text_or_null(m.name)},
      {"path", run.path},
      {"group", group_json(m)},
      {"repeat", repeat_json(m)},
      {"local_rank", m.local_rank},
      {"host", text_or_null(m.host_name)},
      {"started", text_or_null(m.started)},
      {"status", run_status_name(run.status)},
      {"exit_code", value_or_null(m.exit_code)},
      {"signal", value_or_null(m.signal)},
      {"ended_by", text_or_null(ended_by_name(m.ended_by))},
      {"machine_metrics_run",
       machine ? Json(summary.members[*machine].run.manifest.id) : Json(nullptr)},
      {"problem", text_or_null(run.problem)},
  };
  for (size_t i = 0; i < values.size(); ++i) {
    json[std::string(kGroupMeasures[i].key)] = value_or_null(values[i]);
  }
  return json;
}

Json spread_json(const GroupSummary& summary, size_t measure) {
  const Spread& spread = summary.spreads[measure];
  const bool is_known = spread.count > 0;
  const auto number = [&](double value) { return is_known ? Json(value) : Json(nullptr); };
  const auto id = [&](size_t at) {
    return is_known ? Json(summary.members[at].run.manifest.id) : Json(nullptr);
  };
  return {{"name", kGroupMeasures[measure].key},
          {"runs", spread.count},
          {"mean", number(spread.mean)},
          {"standard_deviation", value_or_null(spread.standard_deviation)},
          {"min", number(spread.min)},
          {"median", number(spread.median)},
          {"max", number(spread.max)},
          {"min_run", id(spread.min_at)},
          {"max_run", id(spread.max_at)}};
}

Json slowest_json(const GroupSummary& summary) {
  if (!summary.slowest) return nullptr;
  const SlowestRank& slowest = *summary.slowest;
  const Manifest& m = summary.members[slowest.member].run.manifest;
  return {{"run", m.id},
          {"rank", m.rank},
          {"by", slowest.measure.key},
          {"value", slowest.value},
          {"median", slowest.median}};
}

}  // namespace

Json group_document(const GroupSummary& summary) {
  const RunGroup& group = summary.group;
  Json document = {
      {"schema", "trainscope.group/1"},
      {"group",
       {{"id", group.id},
        {"kind", group.kind == GroupKind::ranks ? "ranks" : "repeats"},
        {"size", group.size}}},
      {"command", summary.members.empty() ? Json::array()
                                          : Json(summary.members.front().run.manifest.command)},
      {"slowest", slowest_json(summary)},
      {"measures", Json::array()},
      {"runs", Json::array()},
  };
  for (size_t i = 0; i < kGroupMeasures.size(); ++i) {
    document["measures"].push_back(spread_json(summary, i));
  }
  for (size_t i = 0; i < summary.members.size(); ++i) {
    document["runs"].push_back(member_json(summary, i));
  }
  return document;
}

}  // namespace trainscope
