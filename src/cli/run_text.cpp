#include "cli/run_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/table.h"

namespace trainscope {

std::string full_outcome_text(const Manifest& manifest, RunStatus status) {
  if (status == RunStatus::damaged) return "damaged";
  if (status == RunStatus::running) return "still running";
  const std::string outcome = outcome_text(manifest, status);
  switch (manifest.ended_by) {
    case EndedBy::exit:
      return "exit code " + outcome;
    case EndedBy::signal:
      if (!outcome.starts_with("SIG")) return "killed by " + outcome;  // a real-time signal
      return fmt::format("killed by signal {} ({})", manifest.signal.value_or(0), outcome);
    case EndedBy::time_limit:
      return "stopped by --for";
    case EndedBy::not_started:
      return fmt::format("did not start (exit code {})", manifest.exit_code.value_or(125));
    case EndedBy::detached:
      return "still running when the recording ended";
    case EndedBy::running:  // nobody was left who could write how it ended
    case EndedBy::unknown:
      break;
  }
  // Only the parent of a process gets its exit code.
  return manifest.attached ? "ended, exit code unknown" : "outcome unknown";
}

std::string sampling_text(const Sampling& sampling, Detail detail) {
  std::string text = fmt::format("{} every {}, {} missed", sampling.samples,
                                 duration_text(sampling.period_s), sampling.missed);
  if (sampling.jitter_p99_s) {
    text += ", jitter ";
    if (detail == Detail::info && sampling.jitter_p50_s) {
      text += fmt::format("p50 {}, ", duration_text(*sampling.jitter_p50_s));
    }
    text += "p99 " + duration_text(*sampling.jitter_p99_s);
  }
  if (sampling.restarts > 0) {
    text += fmt::format(", {} recorder restart{}", sampling.restarts,
                        sampling.restarts == 1 ? "" : "s");
  }
  return text;
}

std::string overhead_text(const Overhead& overhead, double duration_s, Detail detail) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  // Starting costs the same for a job of a millisecond, where a ratio would be meaningless.
  if (duration_s < 1 && overhead.cpu_s) {
    add(duration_text(*overhead.cpu_s) + " of CPU time");
  } else if (overhead.cpu_ratio) {
    add(percent_text(*overhead.cpu_ratio) + " of one CPU");
  }
  if (overhead.max_rss_bytes) add(bytes_text(*overhead.max_rss_bytes) + " memory");
  if (overhead.bytes_written) add(bytes_text(*overhead.bytes_written) + " written");
  if (detail == Detail::info && overhead.bytes_per_value) {
    add(number_text(*overhead.bytes_per_value) + " bytes per value");
  }
  return text;
}

}  // namespace trainscope
