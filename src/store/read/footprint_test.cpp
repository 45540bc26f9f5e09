// What is held of a run that stays open.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/fd.h"
#include "store/read/run_fixture.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace footprint_test {

const FixtureColumn kGauge = {"hw.temperature", {}, "Cel", Kind::gauge, {}};
constexpr size_t kGaps = kMostListedGaps + 500;

// After the first row as many gaps of three ticks with an event each. Longer than others are one
// of four ticks in the middle and one of five at the end, which has another reason.
std::string many_gaps() {
  std::vector<RowTime> times = {{0, 0}};
  std::vector<std::vector<int64_t>> rows = {{1}};
  FixtureFile file;
  file.head(1).schema(1, 0, 100 * kMs, "a", {kGauge}).event(0.05, "framework", "torch");
  for (size_t i = 0; i < kGaps; ++i) {
    const int64_t longer = i + 1 == kGaps ? 2 : (i == kGaps / 2 ? 1 : 0);
    const int64_t tick = times.back().tick + 4 + longer;
    times.push_back({tick, 0});
    rows.push_back({1});
    file.event(static_cast<double>(tick - 1) / 10, "gap", longer == 2 ? "it was stopped" : "busy");
  }
  return file.times(0, 1, times).values(1, 1, rows).bytes();
}

class RunFootprint : public testing::Test {
 protected:
  RunFootprint() {
    EXPECT_EQ(::mkdir(path_.c_str(), 0700), 0);
    Manifest manifest = fixture_manifest(std::nullopt);
    manifest.host_name = "elsewhere";
    EXPECT_TRUE(write_manifest(path_, manifest));
    EXPECT_TRUE(replace_file(path_ + "/samples-0001.seg", many_gaps()));
  }
  static size_t gap_events(const RunView& run) {
    const auto& all = run.events();
    return static_cast<size_t>(std::count_if(
        all.begin(), all.end(), [](const Event& event) { return event.kind == "gap"; }));
  }

  TemporaryFolder temporary_;
  const std::string path_ = temporary_.path() + "/0123456789";
};

TEST_F(RunFootprint, has_all_gaps_and_events_usually) {
  const auto run = open_run(path_);
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->sampling().gaps.size(), kGaps);
  EXPECT_EQ((*run)->sampling().left_out_gaps, 0);
  EXPECT_EQ(gap_events(**run), kGaps);
  EXPECT_EQ((*run)->left_out_events(), 0);
}

void expect_bounded(const RunView& run) {
  const auto& gaps = run.sampling().gaps;
  ASSERT_EQ(gaps.size(), kMostListedGaps);
  EXPECT_EQ(run.sampling().left_out_gaps, static_cast<int64_t>(kGaps - kMostListedGaps));
  EXPECT_EQ(run.sampling().missed, static_cast<int64_t>(3 * kGaps + 3)) << "of all gaps";
  EXPECT_TRUE(std::is_sorted(gaps.begin(), gaps.end(),
                             [](const Gap& a, const Gap& b) { return a.from_s < b.from_s; }));
  const auto longer = std::count_if(gaps.begin(), gaps.end(),
                                    [](const Gap& gap) { return gap.to_s - gap.from_s > 0.35; });
  EXPECT_EQ(longer, 2) << "the longest are listed";
  EXPECT_EQ(gaps.back().reason, "it was stopped") << "also if the event is not listed";
  EXPECT_EQ(gaps.front().reason, "busy");
}

TEST_F(RunFootprint, lists_the_longest_gaps_where_little_is_wanted) {
  const auto run = open_run(path_, Footprint::small);
  ASSERT_TRUE(run);
  expect_bounded(**run);
  EXPECT_EQ(gap_events(**run), kMostListedGaps);
  EXPECT_EQ((*run)->events().size(), kMostListedGaps + 1) << "other events are all there";
  EXPECT_EQ((*run)->left_out_events(), static_cast<int64_t>(kGaps - kMostListedGaps));
}

TEST_F(RunFootprint, stays_bounded_while_it_is_followed) {
  RunFollower follower(path_, Followed::run, Footprint::small);
  const auto begin = follower.open();
  ASSERT_TRUE(begin);
  expect_bounded(**begin);
  FixtureFile tail;
  tail.times(0, 1, {{1'000'000, 0}}).values(1, 1, {{2}}, false);
  ASSERT_TRUE(replace_file(path_ + "/tail", tail.bytes()));
  const auto grown = follower.read_new();
  ASSERT_TRUE(grown);
  ASSERT_NE(*grown, nullptr);
  EXPECT_EQ((*grown)->sampling().gaps.size(), kMostListedGaps);
  EXPECT_EQ((*grown)->sampling().left_out_gaps, static_cast<int64_t>(kGaps + 1 - kMostListedGaps));
}

TEST_F(RunFootprint, has_its_files_on_the_disk_where_little_is_wanted) {
  std::string long_file = many_gaps();
  FixtureFile more;
  const std::string text(1000, 'x');
  while (more.bytes().size() < (size_t{300} << 10)) more.event(1, "mark", text);
  long_file.append(more.bytes(), kFileHeaderBytes);
  ASSERT_TRUE(replace_file(path_ + "/samples-0001.seg", long_file));
  const auto usual = load_run_files(path_),
             little = load_run_files(path_, Extent::all, Footprint::small);
  ASSERT_TRUE(usual && little);
  EXPECT_EQ(usual->segments[0].bytes.size(), long_file.size());
  EXPECT_TRUE(little->segments[0].bytes.empty());
  EXPECT_EQ(little->segments[0].size(), long_file.size());
  const auto run = open_run(path_, Footprint::small);
  ASSERT_TRUE(run);
  expect_bounded(**run);
}

}  // namespace footprint_test
}  // namespace trainscope
