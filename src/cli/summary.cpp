#include "cli/summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/analysis_text.h"
#include "cli/run_text.h"
#include "cli/table.h"
#include "cli/training_text.h"
#include "document/document.h"
#include "model/gain_text.h"

namespace trainscope {

namespace {

using Row = std::pair<std::string, std::string>;

// The summaries of the series that the rows need, read in one pass.
class JobSummaries {
 public:
  explicit JobSummaries(const RunView& run) {
    std::vector<size_t> places;
    const std::vector<Series>& series = run.series();
    for (size_t i = 0; i < series.size(); ++i) {
      const auto wanted =
          std::find_if(std::begin(kWanted), std::end(kWanted), [&](const Wanted& w) {
            return series[i].metric == w.metric && series[i].labels == labels_of(w);
          });
      if (wanted == std::end(kWanted)) continue;
      places.push_back(i);
      found_.push_back(static_cast<Place>(wanted - std::begin(kWanted)));
    }
    auto read = run.summaries_of(places);
    if (read) summaries_ = std::move(*read);
  }

  enum Place { kJobCpu, kMachineCpu, kMemory, kRead, kWritten };
  std::optional<Summary> find(Place place) const {
    for (size_t k = 0; k < summaries_.size(); ++k) {
      if (found_[k] == place) return summaries_[k];
    }
    return std::nullopt;
  }

 private:
  struct Wanted {
    const char *metric, *label, *value;
  };
  static constexpr Wanted kWanted[] = {
      // in the order of Place
      {"job.cpu.utilization", nullptr, nullptr}, {"system.cpu.utilization", "cpu", "all"},
      {"job.memory.usage", nullptr, nullptr},    {"job.disk.io", "direction", "read"},
      {"job.disk.io", "direction", "write"},
  };
  static Labels labels_of(const Wanted& wanted) {
    return wanted.label == nullptr ? Labels() : Labels{{wanted.label, wanted.value}};
  }

  std::vector<Place> found_;
  std::vector<Summary> summaries_;  // of these
};

// "61% of the CPUs available to the job, machine 34%"
std::string cpu_row(const JobSummaries& summaries) {
  std::string text;
  const auto job = summaries.find(JobSummaries::kJobCpu);
  if (job && job->mean) text = percent_text(*job->mean) + " of the CPUs available to the job";
  const auto machine = summaries.find(JobSummaries::kMachineCpu);
  if (machine && machine->mean) {
    text += (text.empty() ? "" : ", ") + ("machine " + percent_text(*machine->mean));
  }
  return text;
}

std::string memory_row(const JobSummaries& summaries) {
  const auto job = summaries.find(JobSummaries::kMemory);
  // 0: in older runs, the only sample was taken before the job began.
  return job && job->max && *job->max > 0 ? bytes_text(*job->max) + " at peak" : "";
}

std::string disk_row(const JobSummaries& summaries) {
  const auto read = summaries.find(JobSummaries::kRead);
  const auto written = summaries.find(JobSummaries::kWritten);
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

// The advice with the most that can be won, in one short line: where the advice states what a part
// of it brings, the bound stands instead.
std::string try_text(const Finding& finding) {
  if (finding.advice.empty() || !finding.max_speedup) return finding.advice;
  std::string advice = finding.advice;
  if (finding.advice_speedup && advice.ends_with(gain_text(*finding.advice_speedup))) {
    advice.erase(std::min(advice.rfind("; "), advice.size()));
  }
  return advice + "; " + gain_text(*finding.max_speedup);
}

// The answer: what held the training back, how sure that is, what to try and what it can bring.
void add_verdict(const Diagnosis& diagnosis, std::vector<Row>& rows) {
  if (diagnosis.verdict.empty()) return;
  rows.push_back({"verdict", diagnosis_headline(diagnosis)});
  if (!diagnosis.missing.empty()) rows.push_back({"missing", diagnosis.missing.front()});
  if (diagnosis.verdict == "unknown" || diagnosis.findings.empty()) return;
  const Finding& first = diagnosis.findings.front();
  if (first.summary == diagnosis.sentence) rows.push_back({"try", try_text(first)});
}

std::vector<Row> rows_of(const RunView& run, const Diagnosis& diagnosis) {
  const Manifest& manifest = run.manifest();
  const JobSummaries summaries(run);
  std::vector<Row> rows = {
      {"duration", duration_text(run.duration_s())},
      {"job", full_outcome_text(manifest, RunStatus::ended)},
      {"CPU", cpu_row(summaries)},
      {"memory", memory_row(summaries)},
      {"disk", disk_row(summaries)},
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
