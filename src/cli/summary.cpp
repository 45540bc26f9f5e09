#include "cli/summary.h"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
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

std::string percent(double ratio) {
  const double value = ratio * 100;
  return value != 0 && value < 10 ? fmt::format("{:.1f}%", value) : fmt::format("{:.0f}%", value);
}

std::string full_outcome_text(const Manifest& manifest) {
  switch (manifest.ended_by) {
    case EndedBy::exit:
      return fmt::format("exit code {}", manifest.exit_code.value_or(0));
    case EndedBy::signal: {
      const int number = manifest.signal.value_or(0);
      const char* name = sigabbrev_np(number);
      return fmt::format("killed by signal {} (SIG{})", number, name == nullptr ? "?" : name);
    }
    case EndedBy::time_limit:
      return "stopped by --for";
    case EndedBy::not_started:
      return fmt::format("did not start (exit code {})", manifest.exit_code.value_or(125));
    case EndedBy::detached:
      return "still running when the recording ended";
    case EndedBy::running:
      return "still running";
    case EndedBy::unknown:
      break;
  }
  // Only the parent of a process gets its exit code.
  return manifest.attached ? "ended, exit code unknown" : "unknown";
}

// "61% of the CPUs it may use; machine 34%"
std::string cpu_row(const RunView& run) {
  std::string text;
  const auto job = find_summary(run, "job.cpu.utilization", {});
  if (job && job->mean) text = percent(*job->mean) + " of the CPUs available to the job";
  const auto machine = find_summary(run, "system.cpu.utilization", {{"cpu", "all"}});
  if (machine && machine->mean) {
    text += (text.empty() ? "" : ", ") + ("machine " + percent(*machine->mean));
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

std::string sampling_row(const Sampling& sampling) {
  std::string text = fmt::format("{} every {}, {} missed", sampling.samples,
                                 duration_text(sampling.period_s), sampling.missed);
  if (sampling.jitter_p99_s) text += ", jitter p99 " + duration_text(*sampling.jitter_p99_s);
  if (sampling.restarts > 0) text += ", " + counted(sampling.restarts, "recorder restart");
  return text;
}

std::string overhead_row(const Overhead& overhead, double duration_s) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  // Starting costs the same for a job of a millisecond, where a ratio would be meaningless.
  if (duration_s < 1 && overhead.cpu_s) {
    add(duration_text(*overhead.cpu_s) + " of CPU time");
  } else if (overhead.cpu_ratio) {
    add(percent(*overhead.cpu_ratio) + " of one CPU");
  }
  if (overhead.max_rss_bytes) add(bytes_text(*overhead.max_rss_bytes) + " memory");
  if (overhead.bytes_written) add(bytes_text(*overhead.bytes_written) + " written");
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

std::vector<Row> rows_of(const RunView& run) {
  const Manifest& manifest = run.manifest();
  std::vector<Row> rows = {
      {"duration", duration_text(run.duration_s())},
      {"job", full_outcome_text(manifest)},
      {"CPU", cpu_row(run)},
      {"memory", memory_row(run)},
      {"disk", disk_row(run)},
      {"samples", sampling_row(run.sampling())},
      {"overhead", overhead_row(run.overhead(), run.duration_s())},
  };
  const std::vector<Row> training = training_rows(run);
  rows.insert(rows.begin() + 2, training.begin(), training.end());
  rows.push_back({"--after", after_row(manifest)});
  for (const std::string& note : manifest.notes) rows.push_back({"note", printable(note)});
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

std::string summary_text(const RunView& run, bool colour) {
  const auto styled = [&](const char* style, const std::string& text) {
    return colour ? style + text + kPlain : text;
  };
  const Manifest& manifest = run.manifest();
  std::string title = "run " + manifest.id;
  if (!manifest.name.empty()) title += " " + printable(manifest.name);
  std::string out = styled(kBold, title) + "\n";
  for (const auto& [label, value] : rows_of(run)) {
    if (value.empty()) continue;
    out += styled(kDim, fmt::format("  {:<10}", label)) + value + "\n";
  }
  out += styled(kDim, "  next      ") + "trainscope info " + manifest.id + "\n";
  return out;
}

}  // namespace trainscope
