// Diagnoses of runs and of the ranks of a job, and what a probe proved.
#include <fmt/format.h>

#include "analyze/analyze.h"
#include "base/json.h"
#include "document/document.h"
#include "format/format.h"

namespace trainscope {

namespace {

Json judged_json(const Diagnosis::Judged& judged) {
  Json seen = Json::array();
  for (const Diagnosis::Seen& one : judged.seen) {
    seen.push_back({{"what", one.what},
                    {"metric", text_or_null(one.metric)},
                    {"value", value_or_null(one.value)},
                    {"low", one.low},
                    {"high", one.high},
                    {"degree", one.degree}});
  }
  return {{"rule", judged.rule},
          {"needs", std::string(needs_of_rule(judged.rule))},
          {"verdict", judged.verdict},
          {"strength", judged.strength},
          {"seen", std::move(seen)}};
}

Json reached_json(const std::vector<ReachedLimit>& limits) {
  Json list = Json::array();
  for (const ReachedLimit& one : limits) {
    list.push_back({{"name", one.name},
                    {"reached", one.reached},
                    {"limit", one.limit},
                    {"unit", one.unit},
                    {"measured", text_or_null(one.measured)}});
  }
  return list;
}

Json over_time_json(const std::vector<Diagnosis::Span>& spans) {
  Json list = Json::array();
  for (const Diagnosis::Span& span : spans) {
    list.push_back({{"from_s", span.from_s},
                    {"to_s", span.to_s},
                    {"verdict", span.verdict},
                    {"confidence", span.confidence}});
  }
  return list;
}

}  // namespace

Json diagnosis_json(const Diagnosis& diagnosis, bool explain) {
  Json findings = Json::array(), alternatives = Json::array();
  for (const Finding& finding : diagnosis.findings) findings.push_back(finding_json(finding));
  for (const auto& other : diagnosis.alternatives) {
    alternatives.push_back({{"verdict", other.verdict}, {"confidence", other.confidence}});
  }
  Json document = {{"schema", "trainscope.diagnose/1"},
                   {"verdict", diagnosis.verdict},
                   {"cause", text_or_null(diagnosis.cause)},
                   {"confidence", diagnosis.confidence},
                   {"breakdown", breakdown_json(diagnosis.breakdown)},
                   {"findings", std::move(findings)},
                   {"alternatives", std::move(alternatives)},
                   {"over_time", over_time_json(diagnosis.over_time)},
                   {"limits", reached_json(diagnosis.limits)},
                   {"missing", diagnosis.missing},
                   {"rules", kRulesVersion}};
  if (!explain) return document;
  Json judged = Json::array();
  for (const auto& one : diagnosis.judged) judged.push_back(judged_json(one));
  document["score"] = diagnosis.score;
  document["explanation"] = std::move(judged);
  Json others = Json::array();
  for (const OtherFinding& other : other_findings()) {
    others.push_back({{"finding", std::string(other.id)}, {"found", has_found(diagnosis, other)}});
  }
  document["others"] = std::move(others);
  return document;
}

std::string diagnosis_headline(const Diagnosis& diagnosis) {
  std::string text = diagnosis.verdict;
  if (!diagnosis.cause.empty()) text += " (" + diagnosis.cause + ")";
  text += ": " + diagnosis.sentence;
  if (!(diagnosis.confidence > 0)) return text;
  return text + fmt::format(" (confidence {:.0f} %)", 100 * diagnosis.confidence);
}

bool differs_from_stored(const RunView& run, const Diagnosis& diagnosis) {
  const auto& stored = run.manifest().verdict;
  return stored && (stored->verdict != diagnosis.verdict || stored->cause != diagnosis.cause);
}

namespace {

Json run_name_json(const Manifest& manifest) {
  return {{"id", manifest.id}, {"name", text_or_null(manifest.name)}};
}

// What `list` shows; null if the run has none.
Json stored_verdict_json(const RunView& run, const Diagnosis& diagnosis) {
  if (!run.manifest().verdict) return nullptr;
  Json stored = verdict_to_json(*run.manifest().verdict);
  stored["differs"] = differs_from_stored(run, diagnosis);
  return stored;
}

Json rank_diagnosis_json(const RankDiagnosis& rank) {
  const bool is_read = rank.problem.empty();
  return {{"rank", rank.rank},
          {"id", rank.run},
          {"host", text_or_null(rank.host)},
          {"problem", text_or_null(rank.problem)},
          {"verdict", text_or_null(rank.diagnosis.verdict)},
          {"cause", text_or_null(rank.diagnosis.cause)},
          {"confidence", is_read ? Json(rank.diagnosis.confidence) : Json(nullptr)},
          {"summary", text_or_null(rank.diagnosis.sentence)},
          {"step_s", value_or_null(rank.step_s)},
          {"communication_s", value_or_null(rank.communication_s)}};
}

// Those that the run has stored; if it has none, those that were measured on its host later.
std::optional<MachineLimits> machine_limits_of(const RunView& run) {
  if (run.manifest().limits) return run.manifest().limits;
  const std::string& path = run.path();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  auto measured = read_host_limits(path.substr(0, slash), run.manifest().host_name);
  if (!measured) return std::nullopt;  // the run does not depend on them
  return std::move(*measured);
}

Result<RankDiagnosis> read_rank(const std::string& path, const std::vector<RunListing>& of_job) {
  TS_TRY(auto opened, open_found_run(path));
  const auto run = with_machine_series(std::move(opened), of_job);
  const auto limits = machine_limits_of(*run);
  return diagnose_rank(*run, limits ? &*limits : nullptr);
}

}  // namespace

Result<DiagnosedRun> diagnose_stored_run(const std::string& path, Footprint footprint) {
  TS_TRY(auto opened, open_run(absolute_run_path(path), footprint));
  DiagnosedRun diagnosed;
  diagnosed.run = with_machine_series(std::move(opened));
  const auto limits = machine_limits_of(*diagnosed.run);
  TS_TRY(diagnosed.diagnosis, diagnose(*diagnosed.run, limits ? &*limits : nullptr));
  TS_TRY(diagnosed.proof, read_probe(*diagnosed.run));
  if (diagnosed.proof) bound_by_proof(*diagnosed.proof, diagnosed.diagnosis);
  return diagnosed;
}

Json diagnosed_run_json(const DiagnosedRun& diagnosed, bool explain) {
  Json document = diagnosis_json(diagnosed.diagnosis, explain);
  document["run"] = run_name_json(diagnosed.run->manifest());
  document["stored"] = stored_verdict_json(*diagnosed.run, diagnosed.diagnosis);
  if (diagnosed.proof) document["proof"] = effects_json(*diagnosed.proof);
  return document;
}

Json shown_diagnosis_json(const DiagnosedRun& diagnosed) {
  Json document = diagnosed_run_json(diagnosed, false);
  document["sentence"] = text_or_null(diagnosed.diagnosis.sentence);
  document["headline"] = diagnosis_headline(diagnosed.diagnosis);
  return document;
}

RankDiagnosis diagnose_stored_rank(const RunListing& rank, const std::vector<RunListing>& of_job) {
  auto read = read_rank(rank.path, of_job);
  if (read) return std::move(*read);
  RankDiagnosis unread;
  unread.rank = rank.manifest.rank;
  unread.run = rank.manifest.id;
  unread.host = rank.manifest.host_name;
  unread.problem = read.error().message();
  return unread;
}

Json diagnosed_ranks_json(const RunGroup& group, const GroupDiagnosis& diagnosis, bool explain) {
  Json document = diagnosis_json(diagnosis.together, explain);
  document["group"] = {{"id", group.id}, {"size", group.size}};
  document["ranks"] = Json::array();
  for (const RankDiagnosis& rank : diagnosis.ranks) {
    document["ranks"].push_back(rank_diagnosis_json(rank));
  }
  return document;
}

Json unread_run_json(const Manifest& manifest, const std::string& problem, bool explain) {
  Json document = diagnosis_json({}, explain);
  document["verdict"] = document["confidence"] = nullptr;
  document["run"] = run_name_json(manifest);
  document["problem"] = problem;
  return document;
}

}  // namespace trainscope
