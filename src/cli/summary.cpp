#include "cli/summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/analysis_text.h"
#include "cli/run_text.h"
#include "cli/table.h"
#include "cli/training_text.h"

namespace trainscope {

namespace {

using Row = std::pair<std::string, std::string>;

std::optional<Summary> find_summary(const RunView& run, std::string_view metric,
                                    const Labels& labels) {
  const std::vector<Series>& series = run.series();
  for (size_t i = 0; i < series.size(); ++i) {
    if (series[i].metric != metric || series[i].labels != labels) continue;
    auto summary = run.summary(i);
    if (summary) return *summary;
  }
  return std::nullopt;
}

// "61% of the CPUs available to the job, machine 34%"
std::string cpu_row(const RunView& run) {
  std::string text;
  const auto job = find_summary(run, "job.cpu.utilization", {});
  if (job && job->mean) text = percent_text(*job->mean) + " of the CPUs available to the job";
  const auto machine = find_summary(run, "system.cpu.utilization", {{"cpu", "all"}});
  if (machine && machine->mean) {
    text += (text.empty() ? "" : ", ") + ("machine " + percent_text(*machine->mean));
  }
  return text;
}

std::string memory_row(const RunView& run) {
  const auto job = find_summary(run, "job.memory.usage", {});
  // 0: in older runs, the only sample was taken before the job began.
  return job && job->max && *job->max > 0 ? bytes_text(*job->max) + " at peak" : "";
}

std::string disk_row(const RunView& run) {
  const auto read = find_summary(run, "job.disk.io", {{"direction", "read"}});
  const auto written = find_summary(run, "job.disk.io", {{"direction", "write"}});
  std::string text;
  if (read && read->delta) text = bytes_text(*read->delta) + " read";
  if (written && written->delta) {
    text += (text.empty() ? "" : ", ") + (bytes_text(*written->delta) + " written");
  }
  return text;
}

// The command after the job, which is part of the duration.
std::string after_row(const Manifest& manifest) {
  if (!manifest.after_exit_code) return "";
  std::string text;
  for (const Phase& phase : manifest.phases) {
    if (phase.name == "after" && phase.to_s) text = duration_text(*phase.to_s - phase.from_s);
  }
  if (*manifest.after_exit_code == 0) return text;
  return fmt::format("failed with code {}{}", *manifest.after_exit_code,
                     text.empty() ? "" : " after " + text);
}

// What the run folder lacks, if it could not be written at the end.
std::string gap_row(const RunView& run) {
  const auto& gaps = run.sampling().gaps;
  if (run.manifest().unwritten_reason.empty() || gaps.empty()) return "";
  const Gap& last = gaps.back();
  return fmt::format("from {} to the end: {}", duration_text(last.from_s), printable(last.reason));
}

// The answer: what held the training back, and what to try.
void add_verdict(const Diagnosis& diagnosis, std::vector<Row>& rows) {
  if (diagnosis.verdict.empty()) return;
  rows.push_back({"verdict", verdict_text(diagnosis)});
  if (!diagnosis.missing.empty()) rows.push_back({"missing", diagnosis.missing.front()});
  if (diagnosis.verdict == "unknown" || diagnosis.findings.empty()) return;
  const Finding& first = diagnosis.findings.front();
  if (!first.advice.empty()) rows.push_back({"try", first.advice});
}

std::vector<Row> rows_of(const RunView& run, const Diagnosis& diagnosis) {
  const Manifest& manifest = run.manifest();
  std::vector<Row> rows = {
      {"duration", duration_text(run.duration_s())},
      {"job", full_outcome_text(manifest, RunStatus::ended)},
      {"CPU", cpu_row(run)},
      {"memory", memory_row(run)},
      {"disk", disk_row(run)},
      {"samples", sampling_text(run.sampling(), Detail::summary)},
      {"gap", gap_row(run)},
      {"overhead", overhead_text(run.overhead(), run.duration_s(), Detail::summary)},
  };
  const std::vector<Row> training = training_rows(run);
  rows.insert(rows.begin() + 2, training.begin(), training.end());
  rows.push_back({"--after", after_row(manifest)});
  for (const std::string& note : manifest.notes) rows.push_back({"note", printable(note)});
  add_verdict(diagnosis, rows);
  return rows;
}

}  // namespace

bool colour_wanted(int fd) {
  const char* refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return ::isatty(fd) == 1;
}

std::string summary_text(const RunView& run, const Diagnosis& diagnosis, bool colour) {
  const auto styled = [&](const char* style, const std::string& text) {
    return colour ? style + text + kPlain : text;
  };
  const Manifest& manifest = run.manifest();
  std::string title = "run " + manifest.id;
  if (!manifest.name.empty()) title += " " + printable(manifest.name);
  std::string out = styled(kBold, title) + "\n";
  for (const auto& [label, value] : rows_of(run, diagnosis)) {
    if (value.empty()) continue;
    out += styled(kDim, fmt::format("  {:<10}", label)) + value + "\n";
  }
  out += styled(kDim, "  next      ") +
         (diagnosis.verdict.empty() ? "trainscope info " : "trainscope diagnose ") + manifest.id +
         "\n";
  return out;
}

}  // namespace trainscope
