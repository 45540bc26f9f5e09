// trainscope diagnose: what held the training back.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "analyze/analyze.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/analysis_text.h"
#include "cli/cli.h"
#include "cli/diagnosis_text.h"
#include "cli/group_rows.h"
#include "cli/print.h"
#include "cli/probe_text.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "document/document.h"
#include "store/store.h"

namespace trainscope::diagnose_command {

namespace {

std::string stored_text(const StoredVerdict& stored) {
  const std::string cause = stored.cause.empty() ? "" : " (" + printable(stored.cause) + ")";
  return fmt::format("{}{} at the end of the run, by version {} of the rules; this is by {}",
                     printable(stored.verdict), cause, stored.rules, kRulesVersion);
}

std::string run_text(const RunView& run, const Diagnosis& diagnosis, const std::string& proof,
                     bool explain) {
  const Manifest& manifest = run.manifest();
  std::string title = "run " + printable(manifest.id);
  if (!manifest.name.empty()) title += " " + printable(manifest.name);
  if (manifest.world_size > 1 && !manifest.job.empty()) {
    title += fmt::format(", rank {} of {} in {}", manifest.rank, manifest.world_size,
                         printable(manifest.job));
  }
  const std::string command = instrument_command(run);
  std::string lines = proof;
  // What is missing has it already.
  const auto has_command = [&](const std::string& need) { return need.find(command) != need.npos; };
  const bool is_named = !command.empty() && std::any_of(diagnosis.missing.begin(),
                                                        diagnosis.missing.end(), has_command);
  if (!command.empty() && !is_named) lines += "  phases    unknown; try: " + command + "\n";
  if (differs_from_stored(run, diagnosis)) {
    lines = "  stored    " + stored_text(*manifest.verdict) + "\n" + lines;
  }
  return diagnosis_text(title, diagnosis, lines, explain);
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
  bool is_complete = true;  // false: one of the runs could not be read

  void add(Json document, const std::string& more) {
    documents.push_back(std::move(document));
    text += (text.empty() ? "" : "\n") + more;
  }
};

Status answer_run(const std::string& path, bool explain, Answers& answers) {
  TS_TRY(const DiagnosedRun diagnosed, diagnose_stored_run(path));
  answers.add(diagnosed_run_json(diagnosed, explain),
              run_text(*diagnosed.run, diagnosed.diagnosis,
                       diagnosed.proof ? proof_text(*diagnosed.proof) : "", explain));
  return {};
}

// One of several runs: if it cannot be read, that is its answer.
void answer_one_of(const std::string& path, bool explain, Answers& answers) {
  const Status answered = answer_run(path, explain, answers);
  if (answered) return;
  answers.is_complete = false;
  const Manifest manifest = list_run(path).manifest;
  const std::string name = manifest.name.empty() ? "" : " " + printable(manifest.name);
  const std::string problem = answered.error().message();
  answers.add(unread_run_json(manifest, problem, explain),
              fmt::format("run {}{}\n  cannot be read: {}\n", printable(manifest.id), name,
                          printable(problem)));
}

// Each by itself, some at the same time: more of them hold too much in memory. One that cannot be
// read stops nothing.
constexpr size_t kMostAtOnce = 4;
std::vector<RankDiagnosis> diagnose_ranks(const std::vector<RunListing>& listings) {
  std::vector<RankDiagnosis> ranks(listings.size());
  std::atomic<size_t> next = 0;
  const auto diagnose_some = [&] {
    for (size_t i = next++; i < listings.size(); i = next++) {
      ranks[i] = diagnose_stored_rank(listings[i], listings);
    }
  };
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (size_t i = 1; i < std::min({kMostAtOnce, processors, listings.size()}); ++i) {
    others.emplace_back(diagnose_some);
  }
  diagnose_some();
  others.clear();  // waits for them
  return ranks;
}

void answer_ranks(const RunGroup& group, bool explain, Answers& answers) {
  std::vector<RunListing> listings;
  for (const std::string& path : group.paths) listings.push_back(list_run(path));
  const GroupDiagnosis diagnosis = diagnose_together(diagnose_ranks(listings));
  answers.add(diagnosed_ranks_json(group, diagnosis, explain),
              ranks_text(group, diagnosis, explain));
}

Status answer_group(const RunGroup& group, bool explain, Answers& answers) {
  if (group.kind == GroupKind::ranks && group.paths.size() > 1) {
    answer_ranks(group, explain, answers);
    return {};
  }
  if (group.paths.size() == 1) return answer_run(group.paths[0], explain, answers);
  for (const std::string& path : group.paths) answer_one_of(path, explain, answers);
  return {};
}

// The runs that arguments mean, each once. A name means the newest of that name, 'NAME*' all.
std::vector<std::string> named_paths(const RunTarget& target, const std::string& text) {
  if (target.group || parse_runs_by_name(text).is_pattern) return target.paths;
  return {target.paths.back()};
}

// Ranks of one job that were named one by one are diagnosed together too.
Status answer_runs(const std::vector<std::string>& paths, bool explain, Answers& answers) {
  if (paths.size() == 1) return answer_run(paths[0], explain, answers);
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
      answer_one_of(path, explain, answers);
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
  return answers.is_complete ? 0 : 1;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<DiagnoseFlags>();
  flags->reading = add_reading_flags(options, settings, false);
  options.add({.name = "--json",
               .value = "",
               .help = "print one JSON document; of several answers it has the list 'diagnoses'",
               .set = store_in(flags->reading->json)});
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

extern const Command entry;
const Command entry = {
    .name = "diagnose",
    .summary = "tell what held the training back, how sure that is, and what to try",
    .examples = R"(trainscope diagnose
trainscope diagnose baseline --explain
trainscope diagnose slurm-4711.0
trainscope diagnose baseline --json)",
    .add = add,
};

}  // namespace trainscope::diagnose_command
