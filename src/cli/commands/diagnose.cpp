// trainscope diagnose: what held the training back.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "analyze/analyze.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/analysis_text.h"
#include "cli/cli.h"
#include "cli/group_rows.h"
#include "cli/info_json.h"
#include "cli/instrument_hint.h"
#include "cli/print.h"
#include "cli/probe_text.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "store/store.h"

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

// What every diagnosis has, of a run and of a group.
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
                   {"limits", reached_json(diagnosis.limits)},
                   {"missing", diagnosis.missing},
                   {"rules", kRulesVersion}};
  if (!explain) return document;
  Json judged = Json::array();
  for (const auto& one : diagnosis.judged) judged.push_back(judged_json(one));
  document["score"] = diagnosis.score;
  document["explanation"] = std::move(judged);
  return document;
}

Json run_json(const RunView& run, const Diagnosis& diagnosis, bool explain) {
  Json document = diagnosis_json(diagnosis, explain);
  document["run"] = {{"id", run.manifest().id}, {"name", text_or_null(run.manifest().name)}};
  return document;
}

Json rank_json(const RankDiagnosis& rank) {
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

Json ranks_json(const RunGroup& group, const GroupDiagnosis& diagnosis, bool explain) {
  Json document = diagnosis_json(diagnosis.together, explain);
  document["group"] = {{"id", group.id}, {"size", group.size}};
  document["ranks"] = Json::array();
  for (const RankDiagnosis& rank : diagnosis.ranks) document["ranks"].push_back(rank_json(rank));
  return document;
}

std::string findings_text(const Diagnosis& diagnosis) {
  std::string out;
  for (const Finding& finding : diagnosis.findings) {
    out += fmt::format("\n{}: {}\n", finding.severity, finding.summary);
    for (const std::string& line : finding.evidence) out += fmt::format("  seen      {}\n", line);
    if (finding.max_speedup) {
      out += fmt::format("  bound     at most {:.2f} times as fast without it ({} lost)\n",
                         *finding.max_speedup, duration_text(finding.time_lost_s.value_or(0)));
    }
    if (!finding.advice.empty()) out += fmt::format("  try       {}\n", finding.advice);
  }
  return out;
}

std::string explanation_text(const Diagnosis& diagnosis) {
  std::string out = "\nrules\n";
  for (const auto& judged : diagnosis.judged) {
    out += fmt::format("  {:<14} {:<20} {:.2f}\n", judged.rule, judged.verdict, judged.strength);
    for (const Diagnosis::Seen& seen : judged.seen) {
      out +=
          fmt::format("    {:<44} {:>10}  {} to {}: {:.2f}\n", seen.what,
                      seen.value ? seen_text(*seen.value, seen.unit) : "unknown",
                      seen_text(seen.low, seen.unit), seen_text(seen.high, seen.unit), seen.degree);
    }
  }
  return out;
}

std::string limits_text(const std::vector<ReachedLimit>& limits) {
  std::string out;
  for (const ReachedLimit& one : limits) {
    out += fmt::format("  {:<9} {}: {} of {}\n", out.empty() ? "limits" : "", printable(one.name),
                       limit_text(one.reached, one.unit), limit_text(one.limit, one.unit));
  }
  return out;
}

// Those that the run has stored; if it has none, those that were measured on its host later.
std::optional<MachineLimits> limits_of(const RunView& run) {
  if (run.manifest().limits) return run.manifest().limits;
  const std::string& path = run.path();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  auto measured = read_host_limits(path.substr(0, slash), run.manifest().host_name);
  if (!measured) return std::nullopt;  // the run does not depend on them
  return std::move(*measured);
}

// The answer in one line, with how sure it is.
std::string answer_text(const Diagnosis& diagnosis) {
  return verdict_text(diagnosis) +
         (diagnosis.confidence > 0
              ? fmt::format(" (confidence {:.0f} %)", 100 * diagnosis.confidence)
              : "");
}

// `own_lines`: what only a run, or only a group, has to say.
std::string diagnosis_text(const std::string& title, const Diagnosis& diagnosis,
                           const std::string& own_lines, bool explain) {
  std::string out = title + "\n";
  out += "  verdict   " + answer_text(diagnosis) + "\n";
  const std::string parts = breakdown_text(diagnosis.breakdown);
  if (!parts.empty()) out += "  time      " + parts + "\n";
  for (const std::string& need : diagnosis.missing) out += "  missing   " + need + "\n";
  std::string others;
  for (const auto& other : diagnosis.alternatives) {
    others += fmt::format("{}{} ({:.0f} %)", others.empty() ? "" : ", ", other.verdict,
                          100 * other.confidence);
  }
  if (!others.empty()) out += "  or        " + others + "\n";
  out += limits_text(diagnosis.limits) + own_lines + findings_text(diagnosis);
  return explain ? out + explanation_text(diagnosis) : out;
}

std::string run_text(const RunView& run, const Diagnosis& diagnosis, const std::string& proof,
                     bool explain) {
  const Manifest& manifest = run.manifest();
  std::string title = "run " + manifest.id;
  if (!manifest.name.empty()) title += " " + printable(manifest.name);
  if (manifest.world_size > 1 && !manifest.job.empty()) {
    title += fmt::format(", rank {} of {} in {}", manifest.rank, manifest.world_size,
                         printable(manifest.job));
  }
  const std::string command = instrument_command(run);
  const std::string hint = command.empty() ? "" : "  phases    unknown; try: " + command + "\n";
  return diagnosis_text(title, diagnosis, proof + hint, explain);
}

std::string ranks_text(const RunGroup& group, const GroupDiagnosis& diagnosis, bool explain) {
  const std::string title =
      fmt::format("group {}, {}", printable(group.id),
                  group_size_text(group, static_cast<int64_t>(group.paths.size())));
  std::string ranks;
  for (const RankDiagnosis& rank : diagnosis.ranks) {
    const std::string answer = rank.problem.empty() ? answer_text(rank.diagnosis)
                                                    : "cannot be read: " + printable(rank.problem);
    ranks += fmt::format("  {:<9} {}\n", fmt::format("rank {}", rank.rank), answer);
  }
  return diagnosis_text(title, diagnosis.together, ranks, explain);
}

// One document or text per run, and one for the ranks of a job together.
struct Answers {
  Json documents = Json::array();
  std::string text;

  void add(Json document, const std::string& more) {
    documents.push_back(std::move(document));
    text += (text.empty() ? "" : "\n") + more;
  }
};

Status answer_run(const std::string& path, bool explain, Answers& answers) {
  TS_TRY(const auto run, open_found_run(path));
  const auto limits = limits_of(*run);
  TS_TRY(const Diagnosis diagnosis, diagnose(*run, limits ? &*limits : nullptr));
  TS_TRY(const auto proof, read_probe(*run));
  Json document = run_json(*run, diagnosis, explain);
  if (proof) document["proof"] = effects_json(*proof);
  answers.add(std::move(document),
              run_text(*run, diagnosis, proof ? proof_text(*proof) : "", explain));
  return {};
}

// The ranks are read one after the other; one that cannot be read stops nothing.
void answer_ranks(const RunGroup& group, bool explain, Answers& answers) {
  std::vector<RankDiagnosis> ranks;
  for (const std::string& path : group.paths) {
    const auto run = open_found_run(path);
    auto rank = run ? diagnose_rank(**run) : Result<RankDiagnosis>(run.error());
    if (!rank) {
      const Manifest manifest = list_run(path).manifest;
      RankDiagnosis unread;
      unread.rank = manifest.rank;
      unread.run = manifest.id;
      unread.host = manifest.host_name;
      unread.problem = rank.error().message();
      rank = std::move(unread);
    }
    ranks.push_back(std::move(*rank));
  }
  const GroupDiagnosis diagnosis = diagnose_together(std::move(ranks));
  answers.add(ranks_json(group, diagnosis, explain), ranks_text(group, diagnosis, explain));
}

Status answer_group(const RunGroup& group, bool explain, Answers& answers) {
  if (group.kind == GroupKind::ranks && group.paths.size() > 1) {
    answer_ranks(group, explain, answers);
    return {};
  }
  for (const std::string& path : group.paths) TS_CHECK_OK(answer_run(path, explain, answers));
  return {};
}

// The runs that arguments mean, each once. A name means the newest of that name, 'NAME*' all.
std::vector<std::string> named_paths(const RunTarget& target, const std::string& text) {
  if (target.group || parse_runs_by_name(text).is_pattern) return target.paths;
  return {target.paths.back()};
}

// Ranks of one job that were named one by one are diagnosed together too.
Status answer_runs(const std::vector<std::string>& paths, bool explain, Answers& answers) {
  std::vector<RunListing> listings;
  for (const std::string& path : paths) listings.push_back(list_run(path));
  std::set<std::string> answered;
  const std::vector<RunGroup> groups = group_runs(listings);
  for (const std::string& path : paths) {
    if (answered.contains(path)) continue;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const RunGroup& each) {
      return each.kind == GroupKind::ranks && each.paths.size() > 1 &&
             std::find(each.paths.begin(), each.paths.end(), path) != each.paths.end();
    });
    if (group == groups.end()) {
      TS_CHECK_OK(answer_run(path, explain, answers));
      continue;
    }
    answered.insert(group->paths.begin(), group->paths.end());
    answer_ranks(*group, explain, answers);
  }
  return {};
}

struct DiagnoseFlags {
  std::shared_ptr<ReadingFlags> reading;
  std::vector<std::string> runs;
  bool explain = false;
};

Result<Answers> find_answers(const DiagnoseFlags& flags) {
  Answers answers;
  std::vector<std::string> paths;
  std::set<std::string> seen;
  const std::vector<std::string> latest = {"latest"};
  for (const std::string& text : flags.runs.empty() ? latest : flags.runs) {
    TS_TRY(const RunTarget target, find_target(flags.reading->home, text));
    if (target.group && flags.runs.size() == 1) {
      TS_CHECK_OK(answer_group(*target.group, flags.explain, answers));
      return answers;
    }
    for (const std::string& path : named_paths(target, text)) {
      if (seen.insert(path).second) paths.push_back(path);
    }
  }
  TS_CHECK_OK(answer_runs(paths, flags.explain, answers));
  return answers;
}

Result<int> show(const DiagnoseFlags& flags) {
  TS_TRY(Answers answers, find_answers(flags));
  if (!flags.reading->json) {
    show_text(answers.text);
  } else if (answers.documents.size() == 1) {
    print_json(answers.documents[0]);
  } else {
    print_json({{"schema", "trainscope.diagnose/1"}, {"diagnoses", std::move(answers.documents)}});
  }
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<DiagnoseFlags>();
  flags->reading = add_reading_flags(options, settings, true);
  options.add({.name = "RUN",
               .value = "RUN",
               .help = "runs or a group: folders, ids, names, 'NAME*'; ranks of one job are "
                       "diagnosed together (default: latest)",
               .repeats = true,
               .set = store_in(flags->runs)});
  options.add({.name = "--explain",
               .value = "",
               .help = "show every rule and what it saw, also of those that do not hold",
               .set = store_in(flags->explain)});
  return [flags] { return show(*flags); };
}

}  // namespace

extern const Command diagnose_command;
const Command diagnose_command = {
    .name = "diagnose",
    .summary = "tell what held the training back, how sure that is, and what to try",
    .examples = R"(trainscope diagnose
trainscope diagnose baseline --explain
trainscope diagnose slurm-4711.0
trainscope diagnose baseline --json)",
    .add = add,
};

}  // namespace trainscope
