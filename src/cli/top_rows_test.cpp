#include "cli/top_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cli/sparklines.h"
#include "testing/fake_run.h"

namespace trainscope {

namespace top_rows_test {

const std::vector<double> kTimes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

// Ten seconds with samples once per second.
class TopRowsTest : public testing::Test {
 protected:
  void add(const std::string& metric, const Labels& labels, const std::string& unit, double each,
           Kind kind = Kind::gauge) {
    std::vector<double> values;
    for (const double t : kTimes) values.push_back(kind == Kind::counter ? each * t : each);
    run_.add(metric, labels, kind, kTimes, values);
    run_.last_series().unit = unit;
    run_.last_series().period_s = 1;
  }

  TopRows rows(Component component = Component::overview, const std::string& filter = "") {
    ViewRequest request{0, false, 1, 10, component, filter};
    auto read = read_top_rows(run_, request, windows_of(request, 10));
    EXPECT_TRUE(read);
    return *read;
  }
  static std::string labels(const TopRows& rows) {
    std::string text;
    for (const PlotRow& row : rows.rows) text += row.label + ";";
    return text;
  }

  FakeRun run_{1, 10};
};

TEST_F(TopRowsTest, the_overview_has_one_row_per_component_in_order) {
  add("hw.gpu.utilization", {{"gpu", "0"}}, "1", 0.3);
  add("hw.gpu.memory.usage", {{"gpu", "0"}}, "By", 1024);
  add("system.cpu.utilization", {{"cpu", "0"}}, "1", 0.1);
  add("system.cpu.utilization", {{"cpu", "all"}}, "1", 0.5);
  add("system.memory.utilization", {}, "1", 0.25);
  add("job.disk.io", {{"direction", "read"}}, "By", 2048, Kind::counter);
  run_.add_absent("train.loss");
  const TopRows found = rows();
  EXPECT_EQ(labels(found), "processor;memory;disk read;GPU 0;GPU 0 mem;");
  EXPECT_EQ(found.rows[0].value, "50%");
  EXPECT_EQ(found.rows[0].high, 1);
  EXPECT_EQ(found.rows[2].value, "2.00 KiB/s");
  EXPECT_EQ(found.rows[2].max, "max 2.00 KiB/s");
}

TEST_F(TopRowsTest, what_a_job_both_reports_and_prints_is_one_row) {
  add("train.loss", {{"set", "train"}, {"source", "output"}}, "1", 0.9);
  add("train.loss", {{"set", "train"}, {"source", "pipe"}}, "1", 0.7);
  Training training;
  training.source = "pipe";
  run_.set_training(training);
  const TopRows found = rows();
  EXPECT_EQ(labels(found), "loss;");
  EXPECT_EQ(found.rows[0].value, "0.7");
  training.source = "tensorboard";  // which has no loss
  run_.set_training(training);
  EXPECT_EQ(labels(rows()), "loss;loss;");
}

TEST_F(TopRowsTest, the_job_and_the_machine_come_before_their_parts) {
  add("cgroup.cpu.usage", {}, "s", 1, Kind::counter);
  add("system.pressure.time", {{"kind", "some"}, {"resource", "cpu"}}, "s", 0.1, Kind::counter);
  for (const char* cpu : {"0", "1", "all"}) {
    add("system.cpu.utilization", {{"cpu", cpu}}, "1", 0.5);
  }
  add("job.cpu.utilization", {}, "1", 0.5);
  EXPECT_EQ(labels(rows(Component::processor)),
            "job.cpu.utilization;cpu.utilization all;cpu.utilization 0;cpu.utilization 1;"
            "cgroup.cpu.usage;pressure.time some cpu;");
}

TEST_F(TopRowsTest, the_busiest_device_is_shown) {
  for (const auto& [device, rate] : {std::pair("lo", 5.0), {"eth0", 900.0}, {"eth1", 7.0}}) {
    add("system.network.io", {{"device", device}, {"direction", "receive"}}, "By", rate,
        Kind::counter);
  }
  EXPECT_EQ(labels(rows()), "in eth0;");
}

TEST_F(TopRowsTest, the_loopback_device_is_shown_only_if_there_is_no_other) {
  add("system.network.io", {{"device", "lo"}, {"direction", "receive"}}, "By", 900, Kind::counter);
  EXPECT_EQ(labels(rows()), "in lo;");
  add("system.network.io", {{"device", "eth0"}, {"direction", "receive"}}, "By", 0, Kind::counter);
  EXPECT_EQ(labels(rows()), "in eth0;");
}

TEST_F(TopRowsTest, many_devices_leave_room_for_the_gpus) {
  for (int i = 0; i < 150; ++i) {
    add("system.disk.utilization", {{"device", "sd" + std::to_string(i)}}, "1", i / 150.0);
  }
  add("hw.gpu.utilization", {{"gpu", "0"}}, "1", 0.5);
  EXPECT_EQ(labels(rows()), "disk sd149;GPU 0;");
  EXPECT_EQ(rows().left_out, 0U);
}

TEST_F(TopRowsTest, many_gpus_have_one_row_each) {
  for (int gpu = 0; gpu < 8; ++gpu) {
    add("hw.gpu.utilization", {{"gpu", std::to_string(gpu)}}, "1", 0.5);
    add("hw.gpu.memory.usage", {{"gpu", std::to_string(gpu)}}, "By", 1);
  }
  EXPECT_EQ(labels(rows()), "GPU 0;GPU 1;GPU 2;GPU 3;GPU 4;GPU 5;GPU 6;GPU 7;");
}

TEST_F(TopRowsTest, a_component_has_all_its_series) {
  add("system.cpu.utilization", {{"cpu", "0"}}, "1", 0.1);
  add("system.pressure.time", {{"kind", "some"}, {"resource", "cpu"}}, "s", 0.5, Kind::counter);
  add("system.pressure.time", {{"kind", "some"}, {"resource", "io"}}, "s", 0.5, Kind::counter);
  EXPECT_EQ(labels(rows(Component::processor)), "cpu.utilization 0;pressure.time some cpu;");
  EXPECT_EQ(labels(rows(Component::gpu)), "");
  EXPECT_NE(rows(Component::gpu).reason, "");
  // Seconds per second are a share of the time.
  EXPECT_EQ(rows(Component::processor).rows[1].value, "50%");
}

TEST_F(TopRowsTest, series_of_the_job_and_of_the_machine_have_different_names) {
  add("cgroup.memory.usage", {}, "By", 1);
  add("job.memory.usage", {}, "By", 1);
  add("system.memory.usage", {{"state", "used"}}, "By", 1);
  EXPECT_EQ(labels(rows(Component::memory)),
            "job.memory.usage;memory.usage used;cgroup.memory.usage;");
}

TEST_F(TopRowsTest, a_filter_is_words_in_any_case_and_order) {
  add("system.disk.io", {{"device", "sda"}, {"direction", "read"}}, "By", 1, Kind::counter);
  add("system.disk.io", {{"device", "sdb"}, {"direction", "read"}}, "By", 1, Kind::counter);
  EXPECT_EQ(labels(rows(Component::gpu, "SDB disk")), "disk.io sdb read;");
  EXPECT_EQ(labels(rows(Component::overview, "nvme")), "");
  EXPECT_NE(rows(Component::overview, "nvme").reason.find("nvme"), std::string::npos);
}

TEST_F(TopRowsTest, series_that_are_too_many_are_counted) {
  for (int i = 0; i < 130; ++i) add("job.x", {{"i", std::to_string(i)}}, "1", 0);
  const TopRows found = rows(Component::job);
  EXPECT_EQ(found.rows.size(), 100U);
  EXPECT_EQ(found.left_out, 30U);
}

TEST_F(TopRowsTest, windows_shorter_than_the_period_show_the_sample_and_a_gap_stays_one) {
  std::vector<double> values(10, 0.5);
  values[4] = values[5] = NAN;
  run_.add("system.cpu.utilization", {{"cpu", "all"}}, Kind::gauge, kTimes, values);
  run_.last_series().period_s = 1;
  const ViewRequest request{0, false, 0.5, 20, Component::overview, ""};
  const auto read = read_top_rows(run_, request, windows_of(request, 10));
  ASSERT_TRUE(read);
  std::string present;
  for (const auto& value : read->rows[0].values) present += value ? 'x' : '.';
  EXPECT_EQ(present, "xxxxxxxx....xxxxxxxx");
}

TEST_F(TopRowsTest, a_driver_with_new_values_now_and_then_leaves_no_columns_empty) {
  std::vector<double> times;
  for (int i = 0; i < 25; ++i) {
    if (i < 10 || i > 14) times.push_back(0.4 * i + 0.01);  // a gap between
  }
  run_.add("hw.gpu.utilization", {{"gpu", "0"}}, Kind::gauge, times,
           std::vector<double>(times.size(), 0.4));
  run_.last_series().period_s = 0.1;
  ViewRequest request{0, false, 0.1, 100, Component::overview, ""};
  const auto read = read_top_rows(run_, request, windows_of(request, 10));
  ASSERT_TRUE(read);
  const auto& values = read->rows[0].values;
  EXPECT_TRUE(std::all_of(values.begin(), values.begin() + 40, [](const auto& v) { return v; }));
  EXPECT_FALSE(values[45]);
  EXPECT_TRUE(values[62]);
}

TEST_F(TopRowsTest, nothing_recorded_is_not_zero) {
  run_.add("system.cpu.utilization", {{"cpu", "all"}}, Kind::gauge, kTimes,
           std::vector<double>(10, NAN));
  EXPECT_EQ(rows().rows[0].value, "");
}

TEST_F(TopRowsTest, the_job_line_has_what_was_recorded) {
  add("job.memory.usage", {}, "By", 1024);
  add("job.thread.count", {}, "{thread}", 12);
  add("job.process.count", {}, "{process}", 1);
  add("job.thread.time", {{"role", "main"}, {"state", "running"}}, "s", 0.5, Kind::counter);
  add("job.thread.time", {{"role", "main"}, {"state", "blocked"}}, "s", 0.5, Kind::counter);
  const auto line = job_line(run_, {0, 1, 10});
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, "1 process, 12 threads, 1.00 KiB memory; running: main 50%");
}

TEST_F(TopRowsTest, sparklines_are_of_shares_and_of_the_training) {
  add("system.memory.utilization", {}, "1", 1);
  add("system.memory.usage", {}, "By", 1);
  run_.add("train.loss", {}, Kind::gauge, {0.1, 9.9}, {3, 1});
  const auto lines = sparklines_of(run_, {0, 1, 2}, Charset::ascii);
  ASSERT_TRUE(lines);
  // Ten samples in twelve windows.
  EXPECT_EQ((*lines)[0], "@@@@@ @@@@@ ");
  EXPECT_EQ((*lines)[1], "");
  EXPECT_EQ((*lines)[2], "@          _");
}

}  // namespace top_rows_test

}  // namespace trainscope
