#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "store/read/run_fixture.h"

namespace trainscope {
namespace read_windows_test {

constexpr int64_t kRowsPerBlock = 10, kBlocks = 40;

// Columns that make a reader use the statistics of a block, and columns that forbid it: a counter
// that is reset, values that are absent now and then, doubles.
const std::vector<FixtureColumn> kColumns = {
    {"counter", {}, "s", Kind::counter, {1, 1000}},
    {"reset", {}, "s", Kind::counter, {1, 1000}},
    {"gauge", {}, "1", Kind::gauge, {1, 1000}},
    {"lost", {}, "1", Kind::gauge, {1, 1000}},
    {"lost_counter", {}, "s", Kind::counter, {1, 7}},
    {"double", {}, "1", Kind::gauge, {}, "f64"},
    {"never", {}, "1", Kind::gauge, {}},
};

FixtureFile recorded(bool is_sealed) {
  std::mt19937 random(7);
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  FixtureFile file;
  file.head(1).schema(1, 0, 100 * kMs, "a", kColumns);
  std::vector<int64_t> last(kColumns.size());
  int64_t tick = 0;
  for (uint64_t block = 1; block <= kBlocks; ++block) {
    std::vector<RowTime> times;
    std::vector<std::vector<int64_t>> rows;
    if (block % 9 == 0) tick += 25;  // a gap
    for (int64_t row = 0; row < kRowsPerBlock; ++row) {
      times.push_back({tick++, below(1000)});
      for (size_t c : {0U, 1U, 4U}) last[c] += below(100);
      if (below(60) == 0) last[1] = 0;
      const auto lose = [&](int64_t value) { return below(20) == 0 ? kAbsent : value; };
      const double number = static_cast<double>(below(1000)) / 8;
      rows.push_back({last[0], last[1], below(5000), lose(below(5000)), lose(last[4]),
                      std::bit_cast<int64_t>(number), kAbsent});
    }
    file.times(0, block, times).values(1, block, rows, is_sealed);
  }
  return file;
}

std::vector<WindowQuery> queries_of(const RunView& run) {
  std::vector<WindowQuery> queries;
  for (const FixtureColumn& column : kColumns) {
    const Reading reading = column.kind == Kind::counter ? Reading::rate : Reading::level;
    queries.push_back({series_index(run, column.metric), reading});
  }
  // What is not stored as a column, and a counter that is read as a gauge.
  queries.push_back({series_index(run, "recorder.lateness{process=recorder}"), Reading::level});
  queries.push_back({series_index(run, "counter"), Reading::level});
  for (size_t i = 0, count = queries.size(); i < count; ++i) {
    queries.push_back(queries[i]);
    queries.back().has_extremes = true;
  }
  return queries;
}

void expect_equal(const std::optional<double>& found, const std::optional<double>& expected,
                  const std::string& what) {
  ASSERT_EQ(found.has_value(), expected.has_value()) << what;
  if (!found) return;
  EXPECT_NEAR(*found, *expected, 1e-9 * std::max(1.0, std::abs(*expected))) << what;
}

// The values one by one say what is right.
TEST(ReadWindows, statistics_and_values_agree) {
  for (const bool is_sealed : {true, false}) {
    const auto run = open_fixture(fixture_files({recorded(is_sealed).bytes()}, 60));
    const std::vector<WindowQuery> queries = queries_of(*run);
    for (const TimeWindows& windows :
         {TimeWindows{0, 60, 1}, TimeWindows{0, 7.3, 6}, TimeWindows{3.05, 0.7, 50},
          TimeWindows{12, 4, 3}, TimeWindows{55, 100, 2}}) {
      const auto found = run->fold_windows(queries, windows);
      const auto expected = run->RunView::fold_windows(queries, windows);
      ASSERT_TRUE(found && expected);
      for (size_t i = 0; i < queries.size(); ++i) {
        const std::string what = fmt::format("query {} in {} windows", i, windows.count);
        expect_equal((*found)[i].mean(), (*expected)[i].mean(), what);
        for (size_t w = 0; w < windows.count; ++w) {
          const std::string where = what + fmt::format(", {}", w);
          expect_equal((*found)[i].at(w), (*expected)[i].at(w), where);
          expect_equal((*found)[i].min(w), (*expected)[i].min(w), where + " (min)");
          expect_equal((*found)[i].max(w), (*expected)[i].max(w), where + " (max)");
        }
      }
    }
  }
}

TEST(ReadWindows, rates_and_means_are_those_of_the_windows) {
  FixtureFile file;
  file.head(1).schema(1, 0, 100 * kMs, "a", {kColumns[0], kColumns[2]});
  file.times(0, 1, {{0, 0}, {10, 0}}).values(1, 1, {{0, 1000}, {2000, 3000}});
  file.times(0, 2, {{20, 0}, {30, 0}}).values(1, 2, {{4000, 5000}, {5000, 5000}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 3.5));
  const auto folds = run->fold_windows({{series_index(*run, "counter"), Reading::rate},
                                        {series_index(*run, "gauge"), Reading::level}},
                                       {0, 2, 2});
  ASSERT_TRUE(folds);
  EXPECT_DOUBLE_EQ(*(*folds)[0].at(0), 2) << "the interval between the blocks is before its middle";
  EXPECT_DOUBLE_EQ(*(*folds)[0].at(1), 1);
  EXPECT_DOUBLE_EQ(*(*folds)[0].mean(), 5.0 / 3);
  EXPECT_DOUBLE_EQ(*(*folds)[1].at(0), 2);
  EXPECT_DOUBLE_EQ(*(*folds)[1].at(1), 5);
  EXPECT_FALSE((*folds)[0].min(0)) << "not asked for";
}

TEST(ReadWindows, extremes_are_those_of_single_rates_and_values) {
  FixtureFile file;
  file.head(1).schema(1, 0, 100 * kMs, "a", {kColumns[0], kColumns[2]});
  file.times(0, 1, {{0, 0}, {10, 0}, {20, 0}})
      .values(1, 1, {{0, 1000}, {9000, 3000}, {9000, 2000}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 2.5));
  const auto folds = run->fold_windows({{series_index(*run, "counter"), Reading::rate, true},
                                        {series_index(*run, "gauge"), Reading::level, true}},
                                       {0, 3, 1});
  ASSERT_TRUE(folds);
  EXPECT_DOUBLE_EQ(*(*folds)[0].at(0), 4.5);
  EXPECT_DOUBLE_EQ(*(*folds)[0].min(0), 0);
  EXPECT_DOUBLE_EQ(*(*folds)[0].max(0), 9) << "the block's statistics do not have it";
  EXPECT_DOUBLE_EQ(*(*folds)[1].min(0), 1);
  EXPECT_DOUBLE_EQ(*(*folds)[1].max(0), 3);
}

// A manifest of a few bytes may claim centuries of milliseconds: what is read does not depend on
// it.
TEST(ReadWindows, a_long_duration_has_no_more_parts_than_there_are_blocks) {
  FixtureFile file;
  file.head(1).schema(1, 0, kMs, "a", {kColumns[0]}).schema(2, 1, kMs, "b", {kColumns[0]});
  file.times(0, 1, {{0, 0}, {1000, 0}}).values(1, 1, {{0}, {2000}});
  file.times(1, 2, {{2000, 0}, {3000, 0}}).values(2, 2, {{4000}, {6000}});
  RunFiles files = fixture_files({file.bytes()}, 8.9e9);
  files.manifest.period_ns = kMs;
  const auto run = open_fixture(std::move(files));
  const TimeWindows windows{0, 8.9e9, 1};
  ASSERT_LE(run->parts_of(windows).size(), 2U);
  const auto folds = run->fold_windows({{series_index(*run, "counter"), Reading::rate}}, windows);
  ASSERT_TRUE(folds);
  EXPECT_DOUBLE_EQ(*(*folds)[0].mean(), 2) << "a series in two streams";
}

}  // namespace read_windows_test
}  // namespace trainscope
