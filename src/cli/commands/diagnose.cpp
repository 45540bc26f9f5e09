// trainscope diagnose: what held the training back.
#include <fmt/format.h>
#include <unistd.h>

#include "analyze/analyze.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/analysis_text.h"
#include "cli/cli.h"
#include "cli/info_json.h"
#include "cli/instrument_hint.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "cli/table.h"

namespace trainscope {

namespace {

Json judged_json(const Diagnosis::Judged& judged) {
  Json seen = Json::array();
  for (const Diagnosis::Seen& one : judged.seen) {
    seen.push_back({{"what", one.what},
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

Json diagnosis_json(const RunView& run, const Diagnosis& diagnosis, bool explain) {
  Json findings = Json::array(), alternatives = Json::array();
  for (const Finding& finding : diagnosis.findings) findings.push_back(finding_json(finding));
  for (const auto& other : diagnosis.alternatives) {
    alternatives.push_back({{"verdict", other.verdict}, {"confidence", other.confidence}});
  }
  Json document = {
      {"schema", "trainscope.diagnose/1"},
      {"run", {{"id", run.manifest().id}, {"name", text_or_null(run.manifest().name)}}},
      {"verdict", diagnosis.verdict},
      {"cause", text_or_null(diagnosis.cause)},
      {"confidence", diagnosis.confidence},
      {"breakdown", breakdown_json(diagnosis.breakdown)},
      {"findings", std::move(findings)},
      {"alternatives", std::move(alternatives)},
      {"limits", Json::array()},
      {"missing", diagnosis.missing},
      {"rules", kRulesVersion}};
  if (!explain) return document;
  Json judged = Json::array();
  for (const auto& one : diagnosis.judged) judged.push_back(judged_json(one));
  document["score"] = diagnosis.score;
  document["explanation"] = std::move(judged);
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
      out += fmt::format("    {:<44} {:>10}  {} to {}: {:.2f}\n", seen.what,
                         seen.value ? number_text(*seen.value) : "unknown", number_text(seen.low),
                         number_text(seen.high), seen.degree);
    }
  }
  return out;
}

std::string diagnosis_text(const RunView& run, const Diagnosis& diagnosis, bool explain) {
  std::string title = "run " + run.manifest().id;
  if (!run.manifest().name.empty()) title += " " + printable(run.manifest().name);
  std::string out = title + "\n";
  out += fmt::format("  verdict   {}{}\n", verdict_text(diagnosis),
                     diagnosis.confidence > 0
                         ? fmt::format(" (confidence {:.0f} %)", 100 * diagnosis.confidence)
                         : "");
  const std::string parts = breakdown_text(diagnosis.breakdown);
  if (!parts.empty()) out += "  time      " + parts + "\n";
  if (const std::string command = instrument_command(run); !command.empty()) {
    out += "  phases    unknown; try: " + command + "\n";
  }
  for (const std::string& need : diagnosis.missing) out += "  missing   " + need + "\n";
  std::string others;
  for (const auto& other : diagnosis.alternatives) {
    others += fmt::format("{}{} ({:.0f} %)", others.empty() ? "" : ", ", other.verdict,
                          100 * other.confidence);
  }
  if (!others.empty()) out += "  or        " + others + "\n";
  out += findings_text(diagnosis);
  return explain ? out + explanation_text(diagnosis) : out;
}

Result<int> show(const ReadingFlags& flags, bool explain) {
  TS_TRY(const auto run, open_named_run(flags));
  TS_TRY(const Diagnosis diagnosis, diagnose(*run));
  if (flags.json) {
    print_json(diagnosis_json(*run, diagnosis, explain));
  } else {
    show_text(diagnosis_text(*run, diagnosis, explain));
  }
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, true);
  add_run_argument(options, flags);
  auto explain = std::make_shared<bool>(false);
  options.add({.name = "--explain",
               .value = "",
               .help = "show every rule and what it saw, also of those that do not hold",
               .set = store_in(*explain)});
  return [flags, explain] { return show(*flags, *explain); };
}

}  // namespace

extern const Command diagnose_command;
const Command diagnose_command = {
    .name = "diagnose",
    .summary = "tell what held the training back, how sure that is, and what to try",
    .examples = R"(trainscope diagnose
trainscope diagnose baseline --explain
trainscope diagnose baseline --json)",
    .add = add,
};

}  // namespace trainscope
