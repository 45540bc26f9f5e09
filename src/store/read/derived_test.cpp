#include "store/read/derived.h"

#include <gtest/gtest.h>

#include "store/read/run_fixture.h"

namespace trainscope {
namespace derived_test {

FixtureColumn cpu(const std::string& which, const std::string& state) {
  return {"system.cpu.time", {{"cpu", which}, {"state", state}}, "s", Kind::counter, {1, 100}};
}

std::unique_ptr<RunView> make(const std::vector<FixtureColumn>& columns,
                              const std::vector<std::vector<int64_t>>& rows,
                              const std::string& host = "{}", const Json& missing = Json::array()) {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", columns, missing);
  std::vector<RowTime> times;
  for (size_t r = 0; r < rows.size(); ++r) times.push_back({static_cast<int64_t>(r), 0});
  if (!rows.empty()) file.times(0, 1, times).values(1, 1, rows);
  file.frame(FrameType::info, host);
  return open_fixture(fixture_files({file.bytes()}, 10));
}

TEST(derived, cpu_utilization_is_the_share_that_was_not_idle) {
  const auto run = make({cpu("all", "user"), cpu("all", "idle"), cpu("all", "iowait")},
                        {{0, 0, 0},
                         {15, 5, 0},    // 75 %
                         {15, 5, 0},    // the kernel's tick did not pass: nothing is known
                         {15, 15, 10},  // 0 %
                         {20, 10, 10},  // idle went backwards
                         {25, 15, 10}});
  EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=all}"),
            "0=- 0.1=0.75 0.2=- 0.3=0 0.4=- 0.5=0.5");
  const size_t at = series_index(*run, "system.cpu.utilization{cpu=all}");
  EXPECT_TRUE(run->series()[at].derived);
  EXPECT_EQ(run->summary(at)->samples, 3);
  EXPECT_NEAR(*run->summary(at)->mean, 1.25 / 3, 1e-12);
}

TEST(derived, counters_from_files_have_a_rate) {
  const auto run = make({{"counter.read bytes", {{"file", "/x"}}, "By", Kind::counter, {}},
                         {"counter.load", {}, "1", Kind::gauge, {}}},
                        {{100, 1}, {300, 2}, {50, 3}, {150, 4}});
  EXPECT_EQ(points_text(*run, "counter.read bytes.rate{file=/x}"), "0=- 0.1=2000 0.2=- 0.3=1000");
  const size_t at = series_index(*run, "counter.read bytes.rate{file=/x}");
  EXPECT_TRUE(run->series()[at].derived);
  EXPECT_EQ(run->series()[at].unit, "By/s");
  for (const Series& series : run->series()) EXPECT_NE(series.metric, "counter.load.rate");
}

// The time of a long run is folded in parts; a rate goes over their borders.
TEST(derived, windows_do_not_depend_on_parts) {
  constexpr int64_t kRowsPerBlock = 5, kBlocks = 70;
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {cpu("0", "user"), cpu("0", "idle")});
  int64_t tick = 0;
  for (uint64_t block = 1; block <= kBlocks; ++block) {
    std::vector<RowTime> times;
    std::vector<std::vector<int64_t>> rows;
    for (int64_t r = 0; r < kRowsPerBlock; ++r, ++tick) {
      times.push_back({tick, 300});
      rows.push_back({tick * tick % 50 + 60 * tick, 10 * tick + tick % 3});
    }
    file.times(0, block, times).values(1, block, rows);
  }
  const auto run = open_fixture(fixture_files({file.bytes()}, 36));
  const size_t at = series_index(*run, "system.cpu.utilization{cpu=0}");
  const std::vector<WindowQuery> queries = {{at, Reading::level, true}};
  const TimeWindows windows = {0.05, 0.7, 50};
  const auto found = run->fold_windows(queries, windows);
  const auto expected = run->RunView::fold_windows(queries, windows);
  ASSERT_TRUE(found && expected);
  for (size_t w = 0; w < windows.count; ++w) {
    ASSERT_TRUE((*expected)[0].at(w)) << w;
    EXPECT_EQ((*found)[0].weight(w), (*expected)[0].weight(w)) << w;
    EXPECT_EQ((*found)[0].min(w), (*expected)[0].min(w)) << w;
    EXPECT_EQ((*found)[0].max(w), (*expected)[0].max(w)) << w;
  }
}

// A long run is computed some blocks at a time; rates go over their borders.
TEST(derived, values_do_not_depend_on_blocks) {
  std::vector<std::vector<int64_t>> rows;
  for (int64_t r = 0; r < 37; ++r) rows.push_back({r * r % 50 + 60 * r, 10 * r + r % 3});
  const std::vector<FixtureColumn> columns = {cpu("0", "user"), cpu("0", "idle")};
  const auto whole = make(columns, rows);
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", columns);
  for (size_t r = 0; r < rows.size(); ++r) {
    file.times(0, r + 1, {{static_cast<int64_t>(r), 0}}).values(1, r + 1, {rows[r]});
  }
  const auto split = open_fixture(fixture_files({file.bytes()}, 10));
  const std::string series = "system.cpu.utilization{cpu=0}";
  EXPECT_EQ(points_text(*split, series), points_text(*whole, series));
  EXPECT_EQ(points_text(*split, series, {0.95, 2.05}), points_text(*whole, series, {0.95, 2.05}));
  const auto a = split->summary(series_index(*split, series));
  const auto b = whole->summary(series_index(*whole, series));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->samples, 36);
  EXPECT_EQ(a->samples, b->samples);
  EXPECT_EQ(a->min, b->min);
  EXPECT_EQ(a->max, b->max);
  EXPECT_EQ(a->last, b->last);
  EXPECT_DOUBLE_EQ(*a->mean, *b->mean);
}

// An absent input and a counter that went backwards, at the border of blocks as within one.
TEST(derived, what_is_unknown_does_not_depend_on_blocks) {
  const std::vector<std::vector<int64_t>> rows = {{0, 0},       {1, 9},  {2, 18}, {0, 27},
                                                  {5, 36},      {6, 45}, {7, 54}, {8, kAbsent},
                                                  {kAbsent, 1}, {9, 72}, {8, 80}, {18, 90}};
  const std::vector<FixtureColumn> columns = {cpu("0", "user"), cpu("0", "idle")};
  const std::string expected =
      "0=- 0.1=0.1 0.2=0.1 0.3=- 0.4=0.357143 0.5=0.1 0.6=0.1 0.7=- 0.8=- "
      "0.9=- 1=- 1.1=0.5";
  for (size_t length = 1; length <= rows.size(); ++length) {
    FixtureFile file;
    file.schema(1, 0, 100 * kMs, "a", columns);
    for (size_t begin = 0; begin < rows.size(); begin += length) {
      const size_t end = std::min(begin + length, rows.size());
      std::vector<RowTime> times;
      for (size_t r = begin; r < end; ++r) times.push_back({static_cast<int64_t>(r), 0});
      file.times(0, begin + 1, times)
          .values(1, begin + 1,
                  {rows.begin() + static_cast<std::ptrdiff_t>(begin),
                   rows.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    const auto run = open_fixture(fixture_files({file.bytes()}, 10));
    EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=0}"), expected) << length;
  }
}

TEST(derived, a_block_without_an_input_has_no_values) {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {cpu("0", "user")})
      .schema(2, 0, 100 * kMs, "b", {cpu("0", "idle")})
      .times(0, 1, {{0, 0}, {1, 0}})
      .values(1, 1, {{0}, {5}})
      .values(2, 1, {{0}, {5}})
      .times(0, 2, {{2, 0}, {3, 0}})
      .values(1, 2, {{6}, {7}})
      .times(0, 3, {{4, 0}, {5, 0}})
      .values(2, 3, {{15}, {20}})
      .values(1, 3, {{8}, {13}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.55));
  EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=0}"),
            "0=- 0.1=0.5 0.2=- 0.3=- 0.4=- 0.5=0.5");
}

// The rows are those of the first input; the other one has a row less.
TEST(derived, inputs_may_be_in_different_streams) {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a",
              {{"job.cpu.time", {{"mode", "system"}}, "s", Kind::counter, {1, 1000}}})
      .schema(2, 1, 100 * kMs, "b",
              {{"job.cpu.time", {{"mode", "user"}}, "s", Kind::counter, {1, 1000}}});
  for (int64_t r = 0; r < 12; ++r) {
    const auto block = static_cast<uint64_t>(r + 1);
    file.times(0, block, {{r, 0}}).values(1, block, {{10 * r}});
    if (r != 6) file.times(1, block, {{r, 0}}).values(2, block, {{40 * r}});
  }
  file.frame(FrameType::info, R"({"threads": 1})");
  const auto run = open_fixture(fixture_files({file.bytes()}, 10));
  EXPECT_EQ(
      points_text(*run, "job.cpu.utilization"),
      "0=- 0.1=0.5 0.2=0.5 0.3=0.5 0.4=0.5 0.5=0.5 0.6=- 0.7=- 0.8=0.5 0.9=0.5 1=0.5 1.1=0.5");
  EXPECT_EQ(points_text(*run, "job.cpu.utilization", {0.45, 0.95}),
            "0.5=0.5 0.6=- 0.7=- 0.8=0.5 0.9=0.5");
  EXPECT_EQ(run->summary(series_index(*run, "job.cpu.utilization"))->samples, 9);
}

TEST(derived, a_range_gives_the_same_values_as_the_whole) {
  const auto run = make({cpu("0", "user"), cpu("0", "idle")}, {{0, 0}, {5, 5}, {8, 12}, {10, 20}});
  EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=0}"), "0=- 0.1=0.5 0.2=0.3 0.3=0.2");
  EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=0}", {0.15, 0.25}), "0.2=0.3");
  EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=0}", {0.2, std::nullopt}),
            "0.2=0.3 0.3=0.2");
}

TEST(derived, a_range_that_begins_with_a_block_looks_into_the_one_before) {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {cpu("0", "user"), cpu("0", "idle")})
      .times(0, 1, {{0, 0}, {1, 0}})
      .values(1, 1, {{0, 0}, {5, 5}})
      .times(0, 2, {{2, 0}})
      .values(1, 2, {{8, 12}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.25));
  EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=0}", {0.2, std::nullopt}), "0.2=0.3");
}

TEST(derived, an_absent_input_makes_two_values_absent) {
  const auto run =
      make({cpu("0", "user"), cpu("0", "idle")}, {{0, 0}, {5, 5}, {kAbsent, 9}, {8, 12}, {9, 13}});
  EXPECT_EQ(points_text(*run, "system.cpu.utilization{cpu=0}"), "0=- 0.1=0.5 0.2=- 0.3=- 0.4=0.5");
}

TEST(derived, cpus_are_in_order_of_their_numbers) {
  const auto run = make({cpu("10", "user"), cpu("9", "user"), cpu("all", "user")}, {{0, 0, 0}});
  EXPECT_LT(series_index(*run, "system.cpu.utilization{cpu=9}"),
            series_index(*run, "system.cpu.utilization{cpu=10}"));
}

TEST(derived, memory_is_used_by_total) {
  const auto state = [](const std::string& name) {
    return FixtureColumn{"system.memory.usage", {{"state", name}}, "By", Kind::gauge, {1024, 1}};
  };
  const auto run =
      make({state("used"), state("free"), state("cached"), state("buffers"), state("available")},
           {{25, 50, 20, 5, 70}, {50, 25, 20, 5, 45}});
  EXPECT_EQ(points_text(*run, "system.memory.utilization"), "0=0.25 0.1=0.5");
}

TEST(derived, a_disk_is_never_busier_than_always) {
  const auto run =
      make({{"system.disk.io_time", {{"device", "sda"}}, "s", Kind::counter, {1, 1000}}},
           {{0}, {50}, {170}});
  EXPECT_EQ(points_text(*run, "system.disk.utilization{device=sda}"), "0=- 0.1=0.5 0.2=1");
}

TEST(derived, the_job_uses_a_share_of_the_cpus_it_may_use) {
  const std::vector<FixtureColumn> columns = {
      {"job.cpu.time", {{"mode", "user"}}, "s", Kind::counter, {1, 1000}},
      {"job.cpu.time", {{"mode", "system"}}, "s", Kind::counter, {1, 1000}}};
  const std::vector<std::vector<int64_t>> rows = {{0, 0}, {90, 10}};
  EXPECT_EQ(
      points_text(*make(columns, rows, R"({"threads": 8, "job_cpus": 2})"), "job.cpu.utilization"),
      "0=- 0.1=0.5");
  EXPECT_EQ(points_text(*make(columns, rows, R"({"threads": 4})"), "job.cpu.utilization"),
            "0=- 0.1=0.25");
  const auto unknown = make(columns, rows);
  EXPECT_EQ(unknown->series()[series_index(*unknown, "job.cpu.utilization")].status,
            SeriesStatus::absent);
}

TEST(derived, without_its_input_it_is_absent_for_the_same_reason) {
  const auto run = make({cpu("0", "user")}, {{1}}, "{}",
                        {{{"metric", "system.disk.io_time"},
                          {"unit", "s"},
                          {"kind", "counter"},
                          {"reason", "no block devices"},
                          {"remedy", ""}}});
  const Series& disk = run->series()[series_index(*run, "system.disk.utilization")];
  EXPECT_EQ(disk.status, SeriesStatus::absent);
  EXPECT_EQ(disk.reason, "no block devices");
  const Series& memory = run->series()[series_index(*run, "system.memory.utilization")];
  EXPECT_EQ(memory.status, SeriesStatus::absent);
  EXPECT_EQ(memory.reason, "system.memory.usage was not recorded");
}

}  // namespace derived_test
}  // namespace trainscope
