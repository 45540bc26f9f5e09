#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace reported_test {

// Steps of 0.1 s, of which every tenth takes 0.5 s.
std::vector<StoredReport> steps_with_pauses() {
  std::vector<StoredReport> reports;
  double time_s = 0;
  for (int i = 1; time_s < kLengthS - 1; ++i) {
    time_s += i % 10 == 0 ? 0.5 : 0.1;
    reports.push_back({time_s, "output", *parse_report(fmt::format("step {}", i))});
  }
  return reports;
}

// The pauses are the last 0.5 s of each 1.4 s.
bool is_in_pause(int tenth) { return tenth % 14 >= 9; }
bool is_outside(int tenth) { return !is_in_pause(tenth); }
bool is_always(int /*tenth*/) { return true; }

Diagnosis writing(bool (*is_burst)(int tenth)) {
  PlantedRun run;
  run.cpu(0.9, 0.95).thread("main", 0.9, 0).report(steps_with_pauses());
  run.bursts("job.io.bytes", {{"direction", "write"}}, 20e6, is_burst);
  run.rate("job.disk.io", {{"direction", "write"}}, 60e6);
  return run.diagnose();
}

TEST(Reported, long_steps_in_which_a_job_writes_are_checkpoints) {
  const Diagnosis d = writing(is_in_pause);
  EXPECT_EQ(d.verdict, "checkpoint_bound");
  ASSERT_FALSE(d.findings.empty());
  EXPECT_NEAR(*d.findings[0].time_lost_s, 0.4 / 1.4 * 19, 0.6);
  EXPECT_EQ(writing(is_outside).verdict, "cpu_bound");
  EXPECT_EQ(writing(is_always).verdict, "cpu_bound");
}

bool begins_pause(int tenth) { return tenth % 14 == 9; }
bool ends_pause(int tenth) { return tenth % 14 == 13; }

// Computes at these times, and writes in one tenth of a second of each pause.
Diagnosis writing_once(bool (*is_writing)(int tenth), bool (*is_computing)(int tenth)) {
  PlantedRun run;
  run.bursts("job.cpu.time", {{"mode", "user"}}, 0.095, is_computing).thread("main", 0.9, 0);
  run.bursts("job.io.bytes", {{"direction", "write"}}, 84e6, is_writing);
  run.bursts("job.disk.io", {{"direction", "write"}}, 84e6, is_writing);
  return run.report(steps_with_pauses()).diagnose();
}

TEST(Reported, an_evaluation_before_a_quick_save_is_no_checkpoint) {
  const Diagnosis d = writing_once(ends_pause, is_always);
  EXPECT_EQ(d.verdict, "cpu_bound");
  EXPECT_EQ(raised(d), "");
}

TEST(Reported, a_job_that_does_nothing_after_it_has_written_waits_for_storage) {
  const Diagnosis d = writing_once(begins_pause, is_outside);
  EXPECT_EQ(d.verdict, "checkpoint_bound");
  ASSERT_FALSE(d.findings.empty());
  EXPECT_NEAR(*d.findings[0].time_lost_s, 0.4 / 1.4 * 19, 0.6);
  // What it waits for before it writes is something else.
  EXPECT_NE(writing_once(ends_pause, is_outside).verdict, "checkpoint_bound");
}

// Computes outside of its pauses, or all the time.
Diagnosis stalling(bool (*is_burst)(int tenth)) {
  PlantedRun run;
  run.thread("main", 0.6, 0).report(steps_with_pauses());
  run.bursts("job.cpu.time", {{"mode", "user"}}, 0.09, is_burst);
  return run.diagnose();
}

TEST(Reported, long_steps_in_which_a_job_does_nothing_are_stalls_with_a_period) {
  const Diagnosis d = stalling(is_outside);
  EXPECT_EQ(d.verdict, "idle");
  ASSERT_FALSE(d.findings.empty());
  EXPECT_EQ(d.findings[0].id, "stalls");
  EXPECT_NEAR(*d.findings[0].max_speedup, 1.4, 0.05);
  ASSERT_GT(d.findings[0].evidence.size(), 1U);
  EXPECT_EQ(d.findings[0].evidence[1], "one about every 1.4 s, every 10 steps");
  EXPECT_NE(stalling(is_always).verdict, "idle");
}

std::vector<StoredReport> steps_behind_a_device(double input_share, bool is_dry) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 200; ++i) {
    const double end_s = i * 0.1;
    reports.push_back({end_s - 0.1 * (1 - input_share), "pipe",
                       *parse_report(fmt::format("phase input {}", 0.1 * input_share))});
    reports.push_back(
        {end_s, "pipe", *parse_report(fmt::format("step {} dry={}", i, is_dry ? 1 : 0))});
  }
  return reports;
}

PlantedRun on_a_gpu(double input_share, bool is_dry, double busy) {
  PlantedRun run;
  run.cpu(0.95, 1).thread("main", 0.95, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, busy);
  run.report(steps_behind_a_device(input_share, is_dry));
  return run;
}

TEST(Reported, waiting_for_data_costs_nothing_while_the_device_has_work) {
  const Diagnosis hidden = on_a_gpu(0.77, false, 0.97).diagnose();
  EXPECT_EQ(hidden.verdict, "gpu_bound");
  EXPECT_EQ(raised(hidden), "");
  // A busy GPU does not excuse a wait of which the device is known to have run dry.
  const Diagnosis lost = on_a_gpu(0.77, true, 0.85).diagnose();
  EXPECT_EQ(lost.verdict, "input_bound");
  EXPECT_NEAR(*lost.findings[0].max_speedup, 1 / 0.23, 0.1);
}

TEST(Reported, a_device_with_work_does_not_wait_for_the_program) {
  EXPECT_EQ(on_a_gpu(0.01, true, 0.4).diagnose().verdict, "launch_bound");
  EXPECT_EQ(on_a_gpu(0.01, false, 0.4).diagnose().verdict, "unknown");
}

// Steps of 0.1 s of a rank that waits `mine` of them, while another rank waits `theirs`.
std::vector<StoredReport> ranks(double mine, double theirs) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 200; ++i) {
    const double end_s = i * 0.1;
    const auto add = [&](double share, const char* name, const char* who) {
      const std::string line = fmt::format("phase {} {}{}", name, 0.1 * share, who);
      reports.push_back({end_s, "pipe", *parse_report(line)});
    };
    add(1 - mine, "forward", "");
    if (mine > 0) add(mine, "communication", "");
    if (theirs > 0) add(theirs, "communication", " who=rank1");
    reports.push_back({end_s, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  return reports;
}

TEST(Reported, any_rank_that_waits_is_communication) {
  const auto with_ranks = [](double mine, double theirs) {
    PlantedRun run;
    run.cpu(1.3, 1.35).thread("main", 0.97, 0).report(ranks(mine, theirs));
    return run.diagnose();
  };
  EXPECT_EQ(with_ranks(0.6, 0.02).verdict, "communication_bound");
  EXPECT_EQ(with_ranks(0.02, 0.6).verdict, "communication_bound");
  EXPECT_EQ(with_ranks(0.02, 0.03).verdict, "cpu_bound");
  EXPECT_EQ(raised(with_ranks(0.02, 0.03)), "");
}

// Steps of 0.1 s that copy for 0.04 s and compute for 0.05 s, of which only the last eight of forty
// are timed. The first one computes for longer.
std::vector<StoredReport> steps_in_bursts(bool are_bursts_known) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 190; ++i) {
    const double compute_s = i == 1 ? 0.95 : 0.05, end_s = 1 + i * 0.1;
    const bool is_timed = i == 1 || i % 40 >= 32;
    const auto add = [&](double before_s, const std::string& line) {
      reports.push_back({end_s - before_s, "pipe", *parse_report(line)});
    };
    add(compute_s + 0.045, "phase input 0.005");
    if (is_timed) add(compute_s, "phase transfer 0.04");
    if (is_timed) add(0, fmt::format("phase forward {}", compute_s));
    add(0,
        fmt::format("step {}", i) + (are_bursts_known ? fmt::format(" timed={:d}", is_timed) : ""));
  }
  return reports;
}

Diagnosis copying_in_bursts(bool are_bursts_known) {
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.3, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.4);
  run.mark("phases are timed in bursts of steps: timing every step would take more than 0.3 %");
  return run.report(steps_in_bursts(are_bursts_known)).diagnose();
}

TEST(Reported, phases_that_are_timed_in_bursts_are_those_of_all_steps) {
  const Diagnosis d = copying_in_bursts(true);
  EXPECT_EQ(d.verdict, "transfer_bound");
  EXPECT_EQ(d.sentence, "copying to the GPU takes 38 % of the step time");
}

TEST(Reported, bursts_that_are_not_known_are_no_share_of_the_step) {
  const Diagnosis d = copying_in_bursts(false);
  EXPECT_NE(d.verdict, "transfer_bound");
  for (const BreakdownPart& part : d.breakdown) EXPECT_NE(part.part, "transfer");
}

// Steps of 0.1 s; before every tenth something takes 0.4 s. `line`: what is reported of it.
std::vector<StoredReport> steps_with(const std::string& line) {
  std::vector<StoredReport> reports;
  double time_s = 0;
  for (int i = 1; time_s < kLengthS - 1; ++i) {
    if (i % 10 == 0) time_s += 0.4;
    if (i % 10 == 0 && !line.empty()) reports.push_back({time_s, "pipe", *parse_report(line)});
    time_s += 0.1;
    reports.push_back({time_s - 0.09, "pipe", *parse_report("phase input 0.001")});
    reports.push_back({time_s, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  return reports;
}

std::string verdict_of_writing(const std::string& line) {
  PlantedRun run;
  run.cpu(0.9, 0.95).thread("main", 0.9, 0).report(steps_with(line));
  run.bursts("job.io.bytes", {{"direction", "write"}}, 20e6, is_in_pause);
  run.rate("job.disk.io", {{"direction", "write"}}, 60e6);
  return run.diagnose().verdict;
}

TEST(Reported, saves_are_found_though_only_other_phases_are_reported) {
  EXPECT_EQ(verdict_of_writing(""), "checkpoint_bound");
  EXPECT_EQ(verdict_of_writing("phase evaluation 0.4"), "cpu_bound")
      << "what an evaluation writes is no checkpoint";
}

}  // namespace reported_test
}  // namespace trainscope
