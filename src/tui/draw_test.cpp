// Screens compared with test/golden/top-<name>.txt. TRAINSCOPE_REGENERATE=1 writes those files
// again.
#include "tui/draw.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/fd.h"

namespace trainscope {

namespace draw_test {

// A triangle of values with this period.
std::vector<std::optional<double>> triangle(size_t count, size_t period, double high) {
  std::vector<std::optional<double>> values;
  for (size_t k = 0; k < count; ++k) {
    const size_t at = k % period, distance = std::min(at, period - at);
    values.emplace_back(high * 2 * static_cast<double>(distance) / static_cast<double>(period));
  }
  return values;
}

TopSnapshot training_run(ScreenSize size) {
  TopSnapshot run;
  run.id = "6a1syzpwft";
  run.name = "resnet50-baseline";
  run.command = "python train.py --epochs 3 --data /data/images";
  run.mark = RunMark::running;
  run.status = "running for 12 min 4 s";
  run.steps = "812, 4.1/s, p50 243 ms, p99 1.2 s, 1050 items/s; loss 0.41, accuracy 0.87";
  run.job = "9 processes, 71 threads, 6.10 GiB memory, 62% of its CPUs; running: main 41%";
  run.recording =
      "7240 every 100 ms, 12 missed, 1 gap, the last at 690 s: the machine was suspended";
  run.is_recording_faulty = run.is_running = true;
  run.duration_s = 724;
  run.windows = windows_of(request_of(TopState(), plot_width(size, TopState())), run.duration_s);
  run.gaps = {{run.windows.end_s() - 12, run.windows.end_s() - 8}};
  const size_t count = run.windows.count;
  const auto add = [&](const char* label, size_t period, double high, const char* value,
                       const char* max) {
    run.rows.push_back({label, triangle(count, period, high), 0, high, value, max});
    for (size_t k = count - 24; k < count - 16; ++k) run.rows.back().values[k].reset();
  };
  add("step time", 9, 1.2, "243 ms", "max 1.2 s");
  add("loss", 1000, 2, "0.41", "max 2.3");
  add("processor", 20, 1, "62%", "max 97%");
  add("memory", 400, 1, "41%", "max 42%");
  add("disk read", 13, 400e6, "393 MiB/s", "max 412 MiB/s");
  add("disk write", 50, 1e6, "0.2 B/s", "max 1.0 MiB/s");
  add("in eth0", 31, 3e6, "2.1 MiB/s", "max 3.0 MiB/s");
  add("GPU 0", 11, 1, "31%", "max 100%");
  add("GPU 1", 17, 1, "29%", "max 100%");
  run.output = {"Epoch 1/3", "step 810 loss 0.42", "step 811 loss 0.42", "step 812 loss 0.41"};
  return run;
}

const TopVerdict kVerdict = {Severity::warning,
                             "input_bound (storage), 88 %: 62 % of step time waits for data",
                             "num_workers=8, prefetch_factor=4", false};

std::string golden_screen_path(const std::string& name) {
  return std::string(TRAINSCOPE_TEST_DATA) + "/../golden/top-" + name + ".txt";
}

void expect_golden(const std::string& name, const Grid& grid) {
  const std::string path = golden_screen_path(name), text = grid.text();
  if (std::getenv("TRAINSCOPE_REGENERATE") != nullptr) {
    ASSERT_TRUE(replace_file(path, text));
    return;
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden) << golden.error().message();
  EXPECT_EQ(*golden, text) << "the screen " << name << " changed";
}

Grid draw_training(ScreenSize size, Charset charset = Charset::utf8, TopState state = {}) {
  const TopSnapshot run = training_run(size);
  return draw_top({&run, kVerdict, 0, false}, state, size, charset);
}

TEST(TopScreen, is_as_stored_at_each_size) {
  for (const ScreenSize size : {ScreenSize{15, 40}, {24, 80}, {40, 120}, {60, 200}}) {
    expect_golden(fmt::format("{}x{}", size.columns, size.rows), draw_training(size));
  }
}

TEST(TopScreen, in_ascii_has_no_other_bytes) {
  const Grid grid = draw_training({24, 80}, Charset::ascii);
  for (const char c : grid.text()) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127));
  expect_golden("ascii", grid);
}

TEST(TopScreen, of_help) {
  TopState state;
  state.shows_help = true;
  expect_golden("help", draw_training({24, 80}, Charset::utf8, state));
}

TopProcesses job_processes() {
  TopProcesses job;
  job.are_living = true;
  job.rows = {
      {40711, "main", "187%", "3.10 GiB", "31", "running",
       "python train.py --epochs 3 --data /data"},
      {40802, "worker", "64%", "612 MiB", "4", "disk wait", "pt_data_worker (python train.py)"},
      {40803, "worker", "58%", "598 MiB", "4", "running", "pt_data_worker (python train.py)"},
      {40804, "", "", "24.0 MiB", "1", "sleeping", "wandb-service"},
      {40710, "", "0%", "3.42 MiB", "1", "sleeping", "bash train.sh"}};
  return job;
}

TopSnapshot run_with_threads(ScreenSize size, const TopState& state) {
  TopSnapshot run = training_run(size);
  run.panel = state.panel;
  run.rows.clear();
  run.windows = windows_of(request_of(state, plot_width(size, state)), run.duration_s);
  const auto add = [&](const char* role, size_t period, const char* running, const char* runnable,
                       const char* blocked, const char* disk) {
    PlotRow plot{role, triangle(run.windows.count, period, 1), 0, 1, running, ""};
    run.threads.push_back({plot, runnable, blocked, disk});
  };
  add("main", 9, "41%", "0.3%", "59%", "2.1%");
  add("busiest", 20, "12%", "0.1%", "88%", "");
  add("pin", 400, "1.2%", "0%", "99%", "");
  add("worker0", 13, "62%", "4.0%", "34%", "31%");
  add("worker1", 17, "58%", "3.8%", "38%", "35%");
  return run;
}

Grid draw_panel(Panel panel, ScreenSize size, const TopProcesses& processes,
                Charset charset = Charset::utf8) {
  TopState state;
  state.panel = panel;
  const TopSnapshot run = run_with_threads(size, state);
  return draw_top({&run, kVerdict, 0, false, processes}, state, size, charset);
}

TEST(TopScreen, of_processes) {
  for (const ScreenSize size : {ScreenSize{15, 40}, {24, 80}, {40, 120}}) {
    expect_golden(fmt::format("processes-{}x{}", size.columns, size.rows),
                  draw_panel(Panel::processes, size, job_processes()));
  }
  const Grid grid = draw_panel(Panel::processes, {24, 80}, job_processes(), Charset::ascii);
  for (const char c : grid.text()) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127));
}

TEST(TopScreen, of_threads) {
  expect_golden("threads-80x24", draw_panel(Panel::threads, {24, 80}, {}));
  expect_golden("threads-40x15", draw_panel(Panel::threads, {15, 40}, {}));
}

TEST(TopScreen, of_processes_that_are_not_here_has_the_reason_and_their_threads) {
  TopProcesses ended;
  ended.no_rows = "the job has ended";
  const std::string text = draw_panel(Panel::processes, {24, 80}, ended).text();
  EXPECT_NE(text.find("\nthe job has ended\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nworker1 "), std::string::npos) << text;
  // Nothing is known of them yet.
  const std::string first = draw_panel(Panel::processes, {24, 80}, {}).text();
  EXPECT_NE(first.find("reading the processes"), std::string::npos) << first;
  EXPECT_EQ(first.find("worker1"), std::string::npos) << first;
}

TEST(TopScreen, of_many_processes_is_scrolled) {
  TopProcesses many = job_processes();
  for (int i = 0; i < 45; ++i) many.rows.push_back({i + 1, "", "", "", "1", "sleeping", "extra"});
  many.left_out = 20;
  TopState state;
  state.panel = Panel::processes;
  const ScreenSize size{24, 80};
  const TopSnapshot run = run_with_threads(size, state);
  const auto text = [&] {
    return draw_top({&run, kVerdict, 0, false, many}, state, size, Charset::utf8).text();
  };
  EXPECT_NE(text().find("processes ▼56 more"), std::string::npos) << text();
  EXPECT_NE(text().find("40711"), std::string::npos);
  state.first_row = 49;
  EXPECT_NE(text().find("processes ▼20 more"), std::string::npos) << text();
  EXPECT_EQ(text().find("40711"), std::string::npos);
  EXPECT_EQ(rows_of(&run, many, state), 50);
}

TEST(TopScreen, severity_is_a_symbol_and_a_word) {
  const TopSnapshot run = training_run({24, 80});
  const std::pair<Severity, const char*> kinds[] = {{Severity::critical, "!! critical: slow"},
                                                    {Severity::warning, "! warning: slow"},
                                                    {Severity::info, "i info: slow"}};
  for (const auto& [severity, text] : kinds) {
    const TopVerdict verdict = {severity, "slow", "", true};
    const Grid grid = draw_top({&run, verdict, 0, false}, {}, {24, 80}, Charset::ascii);
    EXPECT_NE(grid.text().find(text), std::string::npos) << grid.text();
  }
}

TEST(TopScreen, states_how_long_a_slow_disk_takes) {
  const TopSnapshot run = training_run({24, 80});
  const auto text = [&](double reading_s) {
    return draw_top({&run, kVerdict, reading_s, false}, {}, {24, 80}, Charset::utf8).text();
  };
  EXPECT_NE(text(12.3).find("! reading for 12 s"), std::string::npos);
  EXPECT_EQ(text(0.5).find("reading for"), std::string::npos);
  const Grid first = draw_top({nullptr, {}, 3, false}, {}, {24, 80}, Charset::utf8);
  EXPECT_NE(first.text().find("! reading for 3 s"), std::string::npos);
}

void expect_no_controls(const Grid& grid) {
  for (int row = 0; row < grid.size().rows; ++row) {
    for (int column = 0; column < grid.size().columns; ++column) {
      for (const char c : grid.at(row, column).text) {
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
      }
    }
  }
}

TEST(TopScreen, hostile_names_stay_in_their_cells) {
  TopSnapshot run = training_run({24, 80});
  const std::string hostile = "\x1b]0;owned\x07\n\r\xff\xe2\x80\xae漢字" + std::string(500, 'x');
  run.name = run.command = run.status = run.steps = run.job = run.recording = hostile;
  for (PlotRow& row : run.rows) row.label = row.value = row.max = hostile;
  run.output = {hostile, hostile};
  run.problem = hostile;
  TopProcesses job = job_processes();
  job.no_rows = hostile;
  job.rows.front() = {1, hostile, hostile, hostile, hostile, hostile, hostile};
  run.panel = Panel::threads;
  run.threads = {{run.rows.front(), hostile, hostile, hostile}};
  for (const ScreenSize size : {ScreenSize{1, 1}, {2, 3}, {15, 40}, {24, 80}, {60, 200}}) {
    for (const Panel panel : {Panel::none, Panel::processes, Panel::threads}) {
      TopState state;
      state.panel = panel;
      expect_no_controls(
          draw_top({&run, {Severity::critical, hostile, hostile, false}, 0, false, job}, state,
                   size, Charset::utf8));
    }
  }
}

TEST(TopScreen, what_was_read_is_shown_at_its_time_until_more_is_read) {
  const ScreenSize size{24, 80};
  const TopSnapshot run = training_run(size);
  TopState state;
  state.follows = false;
  state.begin_s = run.windows.begin_s - 10;
  const Grid before = draw_top({&run, kVerdict, 0, false}, {}, size, Charset::utf8);
  const Grid scrolled = draw_top({&run, kVerdict, 0, false}, state, size, Charset::utf8);
  const int left = size.columns - plot_width(size, TopState());
  for (int column = 10; column < plot_width(size, TopState()); ++column) {
    EXPECT_EQ(scrolled.at(7, left + column).text, before.at(7, left + column - 10).text);
  }
  EXPECT_NE(before.at(7, left + 3).text, " ");
  EXPECT_EQ(scrolled.at(7, left + 3).text, " ");
}

TEST(TopScreen, more_rows_than_fit_are_counted_and_can_be_scrolled_to) {
  TopSnapshot run = training_run({15, 40});
  for (int i = 0; i < 30; ++i) run.rows.push_back({fmt::format("GPU {}", i), {}, 0, 1, "", ""});
  TopState state;
  const auto text = [&] {
    return draw_top({&run, kVerdict, 0, false}, state, {15, 40}, Charset::utf8).text();
  };
  EXPECT_NE(text().find("▼30 more"), std::string::npos) << text();
  EXPECT_EQ(text().find("GPU 29"), std::string::npos);
  state.first_row = 38;
  EXPECT_NE(text().find("GPU 29"), std::string::npos);
  EXPECT_EQ(text().find("more"), std::string::npos) << text();
}

TEST(TopScreen, verdict_and_advice_continue_on_a_second_line) {
  const TopSnapshot run = training_run({24, 80});
  const TopVerdict verdict = {Severity::critical,
                              "input_bound: 35 % of the step time is spent waiting for data, which "
                              "is much",
                              "load ahead of the training: num_workers (PyTorch), prefetch "
                              "(tf.data) or more",
                              true};
  const auto text = [&](ScreenSize size) {
    return draw_top({&run, verdict, 0, false}, {}, size, Charset::utf8).text();
  };
  EXPECT_NE(text({24, 80}).find("\n            data, which is much\ntry"), std::string::npos)
      << text({24, 80});
  EXPECT_NE(text({24, 80}).find("\n            (tf.data) or more\nstep time"), std::string::npos)
      << text({24, 80});
  EXPECT_EQ(text({15, 80}).find("which is much"), std::string::npos);
}

TEST(TopScreen, of_a_long_name_the_labels_are_kept) {
  TopSnapshot run = training_run({24, 80});
  run.rows[0].label = "disk.operation_time nvme0n1 write";
  TopState state;
  state.component = Component::disk;
  const std::string text =
      draw_top({&run, kVerdict, 0, false}, state, {24, 80}, Charset::utf8).text();
  EXPECT_NE(text.find("\ndisk.opera… nvme0n1 write "), std::string::npos) << text;
}

void expect_whole_lines(Panel panel) {
  TopState state;
  state.panel = panel;
  const TopSnapshot run =
      panel == Panel::none ? training_run({24, 80}) : run_with_threads({24, 80}, state);
  for (int rows = 1; rows <= 8; ++rows) {
    const Grid grid =
        draw_top({&run, kVerdict, 0, false, job_processes()}, state, {rows, 80}, Charset::utf8);
    const std::string text = grid.text();
    EXPECT_TRUE(text.starts_with(" resnet50-baseline")) << rows;
    EXPECT_EQ(text.find("steps") != std::string::npos, rows >= 3) << rows;
    EXPECT_EQ(text.find("q quit") != std::string::npos, rows >= 3) << rows;
    EXPECT_EQ(text.find("verdict") != std::string::npos, rows >= 4) << rows;
    EXPECT_EQ(text.find("samples") != std::string::npos, rows >= 6) << rows;
  }
}

TEST(TopScreen, on_a_low_screen_no_line_is_drawn_over_another) {
  for (const Panel panel : {Panel::none, Panel::processes, Panel::threads}) {
    expect_whole_lines(panel);
  }
}

TEST(TopScreen, the_screen_of_a_job_is_closed_not_quit) {
  const TopSnapshot run = training_run({24, 80});
  for (const int columns : {40, 80}) {
    const ScreenSize size{24, columns};
    EXPECT_NE(draw_top({&run, kVerdict, 0, true}, {}, size, Charset::utf8).text().find(" q close "),
              std::string::npos);
  }
}

TEST(TopScreen, an_empty_component_is_explained) {
  TopSnapshot run = training_run({24, 80});
  run.rows.clear();
  run.no_rows = "nothing was recorded";
  const Grid grid = draw_top({&run, kVerdict, 0, false}, {}, {24, 80}, Charset::utf8);
  EXPECT_NE(grid.text().find("nothing was recorded"), std::string::npos);
}

}  // namespace draw_test

}  // namespace trainscope
