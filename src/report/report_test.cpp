#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "report/about.h"
#include "report/charts.h"
#include "report/static_page.h"
#include "testing/fake_run.h"

namespace trainscope {
namespace report_report_test {

constexpr const char* kHostile = "</script><script>alert(1)</script>\"'\x1b[31m";

// A run of 60 s with a spike in the step time.
std::unique_ptr<FakeRun> short_run(const std::string& name) {
  auto run = std::make_unique<FakeRun>(1, 60);
  run->own_manifest().name = name;
  std::vector<double> times, steps, counter;
  for (int i = 0; i < 60; ++i) {
    times.push_back(i);
    steps.push_back(i == 30 ? 0.5 : 0.02);
    counter.push_back(1e6 * i);
  }
  run->add("train.step.duration", {{"source", "pipe"}}, Kind::gauge, times, steps);
  run->last_series().unit = "s";
  run->add("system.disk.io", {{"device", name}, {"direction", "read"}}, Kind::counter, times,
           counter);
  run->last_series().unit = "By";
  run->add("system.disk.io", {{"device", "idle"}, {"direction", "read"}}, Kind::counter, times,
           std::vector<double>(60, 0.0));
  run->add_absent("hw.gpu.utilization");
  return run;
}

DiagnosedRun diagnosed(const std::string& name) {
  DiagnosedRun one;
  one.run = short_run(name);
  one.diagnosis.verdict = "input_bound";
  one.diagnosis.sentence = "62 % of the step time is spent waiting for data " + name;
  one.diagnosis.confidence = 0.9;
  one.diagnosis.breakdown = {{"input wait", 0.62, 37}, {"host work", 0.38, 23}};
  Finding finding;
  finding.severity = "critical";
  finding.summary = "the job waits " + name;
  finding.evidence = {"seen " + name};
  finding.max_speedup = 2.6;
  finding.advice = "use more workers " + name;
  one.diagnosis.findings = {finding};
  return one;
}

std::vector<ReportedRun> only(const DiagnosedRun& run) { return {{&run, ""}}; }

TEST(pictures, every_name_is_a_picture_or_says_why_not) {
  const DiagnosedRun run = diagnosed("run");
  for (const PictureName& picture : picture_names()) {
    const auto drawn = draw_picture(picture.name, only(run));
    if (drawn) {
      EXPECT_TRUE(drawn->starts_with("<svg ")) << picture.name;
    } else {
      EXPECT_NE(drawn.error().message().find(picture.name), std::string::npos);
    }
  }
  EXPECT_TRUE(draw_picture("step_time", only(run)));
  EXPECT_TRUE(draw_picture("disk", only(run)));
  EXPECT_TRUE(draw_picture("breakdown", only(run)));
}

TEST(pictures, the_reason_of_the_run_is_the_reason) {
  const auto drawn = draw_picture("gpu", only(diagnosed("run")));
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().message(), "run 0123456789 has nothing to draw for gpu: why");
}

TEST(pictures, lines_of_a_chart) {
  const auto run = short_run("sda");
  const auto disk = read_chart(*run, *find_chart("disk"), 6);
  ASSERT_TRUE(disk);
  ASSERT_EQ(disk->lines.size(), 1U);  // the idle one is left out
  EXPECT_EQ(disk->lines[0].name, "sda read");
  EXPECT_NEAR(disk->lines[0].mean[10], 1e6, 1);
  const auto steps = read_chart(*run, *find_chart("step_time"), 6);
  ASSERT_TRUE(steps);
  EXPECT_EQ(*std::max_element(steps->lines[0].high.begin(), steps->lines[0].high.end()), 0.5);
}

// At the last instant there is one sample, and it is very different from the mean before it.
TEST(pictures, the_last_sample_is_no_window_of_its_own) {
  FakeRun run(0.1, 1000);
  std::vector<double> times, values;
  for (int i = 0; i <= 10'000; ++i) {
    times.push_back(i / 10.0);
    values.push_back(i % 2 == 0 ? 0.9 : 0.1);
  }
  run.add("job.cpu.utilization", {}, Kind::gauge, times, values);
  const auto chart = read_chart(run, *find_chart("processor"), 6);
  ASSERT_TRUE(chart);
  const PictureLine& line = chart->lines.front();
  EXPECT_NEAR(line.mean.back(), 0.5, 0.1);
  EXPECT_LT(line.time_s.back(), 1000);
}

TEST(pictures, the_sender_that_reported_more_often_is_drawn) {
  FakeRun run(1, 10);
  run.add("train.loss", {{"set", "train"}, {"source", "output"}}, Kind::gauge, {1, 9}, {2, 2});
  run.add("train.loss", {{"set", "train"}, {"source", "pipe"}}, Kind::gauge, {1, 5, 9}, {1, 1, 1});
  const auto chart = read_chart(run, *find_chart("loss"), 6);
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->lines.size(), 1U);
  EXPECT_EQ(chart->lines[0].mean, std::vector<double>({1, 1, 1}));
}

TEST(pictures, step_times_stop_in_long_pauses_and_gaps) {
  FakeRun run(1, 60);
  std::vector<double> times;
  for (int i = 1; i < 60; ++i) times.push_back(i);
  run.add("train.step.duration", {{"source", "pipe"}}, Kind::gauge, times, times);
  run.add("train.loss", {{"source", "pipe"}, {"set", "train"}}, Kind::gauge, times, times);
  Training training;
  const auto phase = [&](const char* name, double from_s, double to_s) {
    training.phases.push_back({name, "", from_s, to_s});
  };
  phase("evaluation", 30.1, 35);
  phase("checkpoint", 31, 33);      // within the other
  phase("checkpoint", 40.1, 40.2);  // shorter than a window
  phase("warm-up", 50.1, 54);       // no pause
  run.set_training(training);
  run.add_gap({10.5, 14.5, "the recorder was stopped"});
  const auto interruptions = [&](const char* chart) {
    std::vector<double> begins_s;
    const auto read = read_chart(run, *find_chart(chart), 6);
    EXPECT_TRUE(read);
    for (const Interruption& one : read->lines.front().interruptions)
      begins_s.push_back(one.from_s);
    return begins_s;
  };
  EXPECT_EQ(interruptions("step_time"), std::vector<double>({11, 30.6}));
  EXPECT_EQ(interruptions("loss"), std::vector<double>({11}));
}

TEST(pictures, more_series_than_lines) {
  FakeRun run(1, 10);
  for (int i = 0; i < 9; ++i) {
    run.add("hw.gpu.utilization", {{"gpu", std::to_string(i)}}, Kind::gauge, {0, 1, 2},
            {0.1 * i, 0.1 * i, 0.1 * i});
  }
  const auto chart = read_chart(run, *find_chart("gpu"), 3);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->left_out, 5U);  // one of nine is idle
  EXPECT_EQ(chart->lines.front().name, "GPU 6");
  EXPECT_EQ(chart->lines.back().name, "GPU 8");
}

TEST(pictures, several_runs_are_labelled) {
  std::vector<DiagnosedRun> runs;
  runs.push_back(diagnosed("first"));
  runs.push_back(diagnosed("second"));
  const auto drawn = draw_picture("step_time", label_runs(runs));
  ASSERT_TRUE(drawn);
  EXPECT_NE(drawn->find("A: step time"), std::string::npos);
  EXPECT_NE(drawn->find("B: step time"), std::string::npos);
  const auto bars = draw_picture("breakdown", label_runs(runs));
  ASSERT_TRUE(bars);
  EXPECT_NE(bars->find("62 % → 62 %"), std::string::npos);
}

TEST(pictures, a_driver_with_new_values_now_and_then_has_a_line) {
  DiagnosedRun one = diagnosed("run");
  auto run = std::make_unique<FakeRun>(0.1, 20);
  std::vector<double> times;
  for (int i = 0; i < 48; ++i) {
    if (i < 20 || i > 28) times.push_back(0.4 * i);  // a gap between
  }
  run->add("hw.gpu.utilization", {{"gpu", "0"}}, Kind::gauge, times,
           std::vector<double>(times.size(), 0.4));
  run->last_series().period_s = 0.1;
  one.run = std::move(run);
  const auto drawn = draw_picture("gpu", only(one));
  ASSERT_TRUE(drawn);
  EXPECT_EQ(drawn->find("<circle"), std::string::npos) << "no points";
  const size_t path = drawn->rfind("<path d=\"");
  const std::string line = drawn->substr(path, drawn->find("/>", path) - path);
  EXPECT_EQ(std::count(line.begin(), line.end(), 'M'), 2) << line;
}

TEST(static_page, has_the_answer_without_a_script) {
  ReportContent content;
  content.runs.push_back(diagnosed("baseline"));
  const std::string page = static_page(content);
  for (const char* text : {"input-bound", "62 % of the step time", "input wait", "62.0 %",
                           "use more workers", "at most 2.60×", "<svg ", "trainscope run"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

TEST(static_page, commands_to_copy_are_on_lines) {
  ReportContent content;
  DiagnosedRun run = diagnosed("baseline");
  auto made = short_run("baseline");
  made->own_manifest().working_directory = "/home/x";
  made->set_command({"python", "<x>"});
  run.run = std::move(made);
  content.runs.push_back(std::move(run));
  EXPECT_NE(static_page(content).find("<pre>cd /home/x\ntrainscope run -- python &#39;&lt;x&gt;"),
            std::string::npos);
}

TEST(static_page, hostile_text_is_inert) {
  ReportContent content;
  content.runs.push_back(diagnosed(kHostile));
  content.runs.push_back(diagnosed(kHostile));
  Comparison comparison;
  comparison.speed.sentence = comparison.behaviour.sentence = comparison.why = kHostile;
  comparison.warnings = {{kHostile, kHostile}};
  content.comparisons.push_back(comparison);
  const std::string page = static_page(content);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("</script"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
}

TEST(markdown, of_a_run) {
  const std::string text = markdown_report(diagnosed("a|b"));
  EXPECT_TRUE(
      text.starts_with("**input\\_bound: 62 % of the step time is spent waiting for data a\\|b**"))
      << text;
  EXPECT_NE(text.find("| input wait | 62.0 % | 37.0 s |"), std::string::npos);
  EXPECT_NE(
      text.find("- **critical**: the job waits a\\|b; at most 2.60× as fast without it. Try: use"),
      std::string::npos);
}

TEST(about, what_differs_between_runs_is_given_for_each) {
  std::vector<DiagnosedRun> runs;
  for (const char* const name : {"slow", "fast"}) {
    runs.push_back(diagnosed(name));
    auto run = short_run(name);
    run->own_manifest().host_name = std::string("node-") + name;
    run->own_manifest().trainscope_version = "1.2";
    runs.back().run = std::move(run);
  }
  const NamedTexts rows = environment_of(runs);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0],
            std::pair(std::string("host"), std::string("slow: node-slow; fast: node-fast")));
  EXPECT_EQ(rows[1], std::pair(std::string("Trainscope"), std::string("1.2")));
  runs.pop_back();
  EXPECT_EQ(environment_of(runs)[0].second, "node-slow");
}

TEST(markdown, of_a_run_that_is_not_over) {
  DiagnosedRun run = diagnosed("live");
  auto made = short_run("live");
  made->set_status(RunStatus::running);
  run.run = std::move(made);
  EXPECT_NE(markdown_report(run).find("Run 0123456789 live, 60.0 s so far"), std::string::npos)
      << markdown_report(run);
}

TEST(about, reproduction_is_a_command_line) {
  Manifest m;
  m.working_directory = "/home/x y";
  m.command = {"python", "train.py", "--name", "it's"};
  m.settings = {
      {"name", "base line", "flag"}, {"perf", "true", "flag"}, {"every", "100ms", "default"}};
  EXPECT_EQ(reproduction_of(m, R"({"git":{"commit":"abc"}})"),
            "cd '/home/x y'\ngit checkout abc\ntrainscope run --name 'base line' --perf -- python "
            "train.py --name 'it'\\''s'");
}

TEST(about, a_comparison_is_reproduced_with_the_commands_of_both) {
  std::vector<DiagnosedRun> runs;
  for (const char* const word : {"slow", "slow", "fast\nrm -rf x"}) {
    runs.push_back(diagnosed(word));
    auto run = short_run(word);
    run->set_command({"train", word});
    runs.back().run = std::move(run);
  }
  EXPECT_TRUE(reproduction_of({}).empty());
  const std::string text = reproduction_of(runs);
  EXPECT_TRUE(text.starts_with("# slow\ntrainscope run -- train slow\n\n# fast")) << text;
  EXPECT_EQ(text.find("# slow", 1), std::string::npos) << "the same again is not repeated";
  const std::string comment =
      text.substr(text.find("# fast"), text.rfind("\ntrainscope") - text.find("# fast"));
  EXPECT_EQ(comment.find('\n'), std::string::npos) << "a name stays within its comment";
}

TEST(about, environment_has_only_what_is_known) {
  FakeRun run(1, 10);
  run.own_manifest().host_name = "node1";
  run.set_host(R"({"cpu_model":"CPU","threads":2,"memory_bytes":8589934592,"kernel":null})");
  const NamedTexts rows = environment_of(run);
  EXPECT_EQ(rows[0], (std::pair<std::string, std::string>("host", "node1")));
  EXPECT_EQ(rows[1].second, "CPU, 2 CPUs");
  EXPECT_EQ(rows[2].second, "8.00 GiB");
  EXPECT_EQ(rows.size(), 3U);
}

// A ratio to a job of milliseconds is the cost of starting.
TEST(about, the_overhead_of_a_short_job_is_cpu_time) {
  Overhead overhead;
  overhead.cpu_ratio = 4.44;
  overhead.cpu_s = 0.0115;
  const auto text_of = [&](double duration_s) {
    FakeRun run(1, duration_s);
    run.set_overhead(overhead);
    for (const auto& [name, text] : method_of(run, false)) {
      if (name == "Overhead") return text;
    }
    return std::string();
  };
  EXPECT_EQ(text_of(0.0026),
            "All processes of the recorder together used 11.5 ms of CPU time. 0 B were written.");
  EXPECT_EQ(text_of(1),
            "All processes of the recorder together used 444.00 % of one CPU. 0 B were written.");
}

}  // namespace report_report_test
}  // namespace trainscope
