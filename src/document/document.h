// The documents of commands that read, as JSON: scripts rely on their names and keys
// (docs/reference). The command line prints them, `view` serves them, reports contain them.
//
// Guarantees: every key is always present, and an unknown value is null. Nothing is printed or
// written; a document states what analyses and comparisons found and computes no verdict. Limits:
// a document is built in memory, so lists that may have millions of entries are cut or left out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "document/column_samples.h"
#include "document/column_writer.h"
#include "document/columns.h"
#include "document/group_summary.h"
#include "document/output.h"
#include "document/overviews.h"
#include "model/comparison.h"
#include "model/finding.h"
#include "model/group_diagnosis.h"
#include "model/model.h"
#include "probe/probe.h"
#include "store/store.h"

namespace trainscope {

// ---- list --json (schema trainscope.list/1)

Json list_document(const std::vector<RunListing>& runs);
Json listing_json(const RunListing& run);
// A run whose supervisor was killed has no stored duration: its last sample is used. Nothing if the
// run is being recorded.
std::optional<double> listed_duration_s(const RunListing& run);

// Parts that several documents have.
Json tags_json(const Manifest& manifest);
// {job, rank, world_size, restart}; null outside a launcher.
Json group_json(const Manifest& manifest);
// {group, index, count}; null unless it is one of several repeats.
Json repeat_json(const Manifest& manifest);

// ---- info --json (schema trainscope.info/1)

// `events` is null unless it is asked for: a job may report millions of marks.
Result<Json> info_json(const RunView& run, bool has_events = false);

// files[] of `run --keep`: {index, path, bytes, time_s, type}.
Json files_json(const RunView& run);
Json breakdown_json(const std::vector<BreakdownPart>& parts);
Json finding_json(const Finding& finding);

// ---- info GROUP --json (schema trainscope.group/1)

Json group_document(const GroupSummary& summary);

// ---- diagnose --json (schema trainscope.diagnose/1)

Json diagnosis_json(const Diagnosis& diagnosis, bool explain);

// A run with its diagnosis, and what a probe in it proved.
struct DiagnosedRun {
  std::unique_ptr<RunView> run;  // with the metrics of its machine
  Diagnosis diagnosis;
  std::optional<ProbeResult> proof;
};
// `path` as find_target gives it. The limits of the machine are those that the run has stored; if
// it has none, those that were measured on its host later.
Result<DiagnosedRun> diagnose_stored_run(const std::string& path,
                                         Footprint footprint = Footprint::usual);
Json diagnosed_run_json(const DiagnosedRun& diagnosed, bool explain);
// Does the verdict that `list` shows, or its cause, differ from this one?
bool differs_from_stored(const RunView& run, const Diagnosis& diagnosis);

// One rank of a job; `of_job` are runs of the job as far as they are known. One that cannot be read
// has its problem.
RankDiagnosis diagnose_stored_rank(const RunListing& rank, const std::vector<RunListing>& of_job);
Json diagnosed_ranks_json(const RunGroup& group, const GroupDiagnosis& diagnosis, bool explain);

// A run that cannot be read, as one of several.
Json unread_run_json(const Manifest& manifest, const std::string& problem, bool explain);

// ---- probe --json (schema trainscope.probe/1)

// `problem`: why nothing was measured; "" if something was.
Json probe_document(const Manifest& manifest, const ProbeResult& result,
                    const std::string& problem);
// effects[] of the contract.
Json effects_json(const ProbeResult& result);

// ---- compare --json (schema trainscope.compare/1)

Json comparison_json(const Comparison& comparison, bool explain);

// ---- Pages and reports (docs/web-api.md); columns.h and output.h have what is over time

// {run, verdict}: what the manifest tells, without reading the run. `path` is left out.
Json run_head_json(const RunListing& run);
// The verdict in one line, as `diagnose` prints it.
std::string diagnosis_headline(const Diagnosis& diagnosis);
// What `diagnose --json` prints, with its sentences.
Json shown_diagnosis_json(const DiagnosedRun& diagnosed);
// {phases, pauses, events, gaps, parts}: what happened when, and where the time went over time.
Result<Json> marks_json(const RunView& run);
// {id, unit, quantiles, steps}: step times after the warm-up; or {id, reason}.
Result<Json> distribution_json(const RunView& run);
// {id, steps_per_s, loss, name_of_loss}: the row of a run in a table.
Result<Json> row_json(const RunView& run);

}  // namespace trainscope
