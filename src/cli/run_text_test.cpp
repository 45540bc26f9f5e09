#include "cli/run_text.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace run_text_test {

std::string outcome(EndedBy by, std::optional<int> exit_code, std::optional<int> signal = {}) {
  Manifest manifest;
  manifest.ended_by = by;
  manifest.exit_code = exit_code;
  manifest.signal = signal;
  return full_outcome_text(manifest, RunStatus::ended);
}

TEST(run_text, each_outcome_has_one_sentence) {
  EXPECT_EQ(outcome(EndedBy::exit, 3), "exit code 3");
  EXPECT_EQ(outcome(EndedBy::exit, {}), "exit code unknown");
  EXPECT_EQ(outcome(EndedBy::signal, {}, 9), "killed by signal 9 (SIGKILL)");
  EXPECT_EQ(outcome(EndedBy::signal, {}, 40), "killed by signal 40");
  EXPECT_EQ(outcome(EndedBy::time_limit, 124), "stopped by --for");
  EXPECT_EQ(outcome(EndedBy::not_started, 127), "did not start (exit code 127)");
  EXPECT_EQ(outcome(EndedBy::detached, {}), "still running when the recording ended");
  EXPECT_EQ(outcome(EndedBy::unknown, {}), "outcome unknown");
  EXPECT_EQ(outcome(EndedBy::running, {}), "outcome unknown") << "supervisor and recorder killed";
  EXPECT_EQ(full_outcome_text(Manifest(), RunStatus::running), "still running");
  Manifest attached;
  attached.attached = true;
  attached.ended_by = EndedBy::unknown;
  EXPECT_EQ(full_outcome_text(attached, RunStatus::ended), "ended, exit code unknown");
  EXPECT_EQ(full_outcome_text(Manifest(), RunStatus::damaged), "damaged");
}

TEST(run_text, info_has_more_numbers_than_the_summary_and_the_same_rounding) {
  Sampling sampling;
  sampling.period_s = 0.1;
  sampling.samples = 900;
  sampling.missed = 1;
  sampling.restarts = 2;
  sampling.jitter_p50_s = 0.00005;
  sampling.jitter_p99_s = 0.0002;
  EXPECT_EQ(sampling_text(sampling, Detail::summary),
            "900 every 100 ms, 1 missed, jitter p99 200 µs, 2 recorder restarts");
  EXPECT_EQ(sampling_text(sampling, Detail::info),
            "900 every 100 ms, 1 missed, jitter p50 50 µs, p99 200 µs, 2 recorder restarts");
  Overhead overhead;
  overhead.cpu_s = 0.036;
  overhead.cpu_ratio = 0.0004;
  overhead.bytes_written = 2048;
  overhead.bytes_per_value = 0.75;
  EXPECT_EQ(overhead_text(overhead, 90, Detail::summary), "0.04% of one CPU, 2.00 KiB written");
  EXPECT_EQ(overhead_text(overhead, 90, Detail::info),
            "0.04% of one CPU, 2.00 KiB written, 0.75 bytes per value");
  EXPECT_EQ(overhead_text(overhead, 0.5, Detail::summary), "36 ms of CPU time, 2.00 KiB written");
}

}  // namespace run_text_test
}  // namespace trainscope
