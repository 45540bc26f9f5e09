#include "store/read/sampling.h"

#include <gtest/gtest.h>

#include "store/read/run_fixture.h"

namespace trainscope {
namespace sampling_test {

const FixtureColumn kGauge = {"hw.temperature", {}, "Cel", Kind::gauge, {}};

// A run with these ticks, each its own block.
struct Made {
  std::vector<int64_t> ticks;
  double duration_s;
  std::string unwritten_reason = {};
};

std::unique_ptr<RunView> make(const Made& made, const std::vector<Event>& events = {}) {
  FixtureFile file;
  file.head(1).schema(1, 0, 100 * kMs, "a", {kGauge});
  uint64_t block = 0;
  for (const int64_t tick : made.ticks) {
    ++block;
    file.times(0, block, {{tick, 100 * (tick + 1)}}).values(1, block, {{tick}});
  }
  for (const Event& event : events) file.event(event.time_s, event.kind, event.text);
  RunFiles files = fixture_files({file.bytes()}, made.duration_s);
  files.manifest.unwritten_reason = made.unwritten_reason;
  return open_fixture(std::move(files));
}

TEST(sampling, two_missed_ticks_are_no_gap) {
  const auto run = make({{0, 3, 4}, 0.49});
  EXPECT_EQ(run->sampling().samples, 3);
  EXPECT_EQ(run->sampling().missed, 2);
  EXPECT_TRUE(run->sampling().gaps.empty());
}

TEST(sampling, a_gap_has_the_reason_of_its_event) {
  const auto run =
      make({{0, 1, 7, 8}, 0.8}, {{0.1, "note", "no"}, {0.71, "gap", "it was stopped"}});
  ASSERT_EQ(run->sampling().gaps.size(), 1U);
  const Gap& gap = run->sampling().gaps[0];
  EXPECT_DOUBLE_EQ(gap.from_s, 0.2);
  EXPECT_DOUBLE_EQ(gap.to_s, 0.7);
  EXPECT_EQ(gap.reason, "it was stopped");
  EXPECT_EQ(run->sampling().missed, 5);
}

TEST(sampling, rows_that_could_not_be_written_are_the_first_reason_of_the_last_gap) {
  const std::vector<Event> events = {{0.41, "gap", "it was busy"}};
  const auto run = make({{0, 5}, 1.05, "the disk was full"}, events);
  ASSERT_EQ(run->sampling().gaps.size(), 2U);
  EXPECT_EQ(run->sampling().gaps[0].reason, "it was busy");
  EXPECT_EQ(run->sampling().gaps[1].reason, "the disk was full");
  const auto busy = make({{0, 1}, 1.05, "the disk was full"}, events);
  ASSERT_EQ(busy->sampling().gaps.size(), 1U);
  EXPECT_EQ(busy->sampling().gaps[0].reason, "the disk was full; it was busy");
}

TEST(sampling, gaps_at_both_ends_and_no_event) {
  const auto run = make({{4, 5}, 1.05}, {{3.0, "gap", "much later"}});
  ASSERT_EQ(run->sampling().gaps.size(), 2U);
  EXPECT_DOUBLE_EQ(run->sampling().gaps[0].from_s, 0);
  EXPECT_DOUBLE_EQ(run->sampling().gaps[0].to_s, 0.4);
  EXPECT_EQ(run->sampling().gaps[0].reason, "the recorder did not run");
  EXPECT_DOUBLE_EQ(run->sampling().gaps[1].from_s, 0.6);
  EXPECT_DOUBLE_EQ(run->sampling().gaps[1].to_s, 1.05);
  EXPECT_EQ(run->sampling().samples + run->sampling().missed, 11);
}

TEST(sampling, jitter_is_of_the_lateness) {
  std::vector<int64_t> ticks;
  for (int64_t tick = 0; tick < 100; ++tick) ticks.push_back(tick);
  const auto run = make({ticks, 9.95});
  EXPECT_DOUBLE_EQ(*run->sampling().jitter_p50_s, 50 * 100e-6);
  EXPECT_DOUBLE_EQ(*run->sampling().jitter_p99_s, 99 * 100e-6);
}

// A damaged times frame costs its rows: the gap names file and offset.
TEST(sampling, damage_that_costs_rows_is_a_gap_with_its_place) {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{0, 0}}).values(1, 1, {{5}});
  const size_t at = file.bytes().size();
  file.times(0, 2, {{1, 0}}).values(1, 2, {{6}}).times(0, 3, {{2, 0}}).values(1, 3, {{7}});
  std::string bytes = file.bytes();
  bytes[at + kFrameHeaderBytes] = '\x77';
  const auto run = open_fixture(fixture_files({bytes}, 0.25));
  ASSERT_FALSE(run->sampling().gaps.empty());
  const Gap& gap = run->sampling().gaps[0];
  EXPECT_DOUBLE_EQ(gap.from_s, 0.1);
  EXPECT_DOUBLE_EQ(gap.to_s, 0.2);
  EXPECT_NE(gap.reason.find(fmt::format("samples-0001.seg: damaged frame at offset {}", at)),
            std::string::npos)
      << gap.reason;
  EXPECT_TRUE(gap.is_damage);
  EXPECT_EQ(points_text(*run, "hw.temperature"), "0=5 0.2=7");
}

// A copy that is not whole. While a run is recorded its last file may end anywhere.
TEST(sampling, a_file_that_ends_within_a_frame_is_the_reason_of_a_gap_without_another) {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{0, 0}}).values(1, 1, {{5}});
  const size_t at = file.bytes().size();
  file.times(0, 2, {{1, 0}, {2, 0}, {3, 0}});
  const std::string cut = file.bytes().substr(0, at + kFrameHeaderBytes);
  const auto gap_of = [&](const std::string& ended, const std::string& unwritten) {
    RunFiles files = fixture_files({cut}, 0.35);
    files.manifest.ended = ended;
    files.manifest.unwritten_reason = unwritten;
    return open_fixture(std::move(files))->sampling().gaps.at(0);
  };
  const Gap gap = gap_of("2026-01-02T03:04:05Z", "");
  EXPECT_EQ(gap.reason, fmt::format("samples-0001.seg: ends within a frame, at offset {}", at));
  EXPECT_TRUE(gap.is_damage);
  EXPECT_EQ(gap_of("", "").reason, "the recorder did not run");
  EXPECT_EQ(gap_of("2026-01-02T03:04:05Z", "the disk was full").reason, "the disk was full");
}

TEST(sampling, damage_that_costs_values_says_so) {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{0, 0}, {1, 0}});
  const size_t at = file.bytes().size();
  file.values(1, 1, {{5}, {6}}).times(0, 2, {{2, 0}}).values(1, 2, {{7}});
  std::string bytes = file.bytes();
  bytes[at + kFrameHeaderBytes] = '\x77';
  const auto run = open_fixture(fixture_files({bytes}, 0.25));
  ASSERT_EQ(run->sampling().gaps.size(), 1U);
  EXPECT_NE(run->sampling().gaps[0].reason.find("values of this time are lost"), std::string::npos);
  EXPECT_TRUE(run->sampling().gaps[0].is_damage);
  EXPECT_EQ(run->sampling().missed, 0);
  EXPECT_EQ(points_text(*run, "hw.temperature"), "0=- 0.1=- 0.2=7");
}

TEST(sampling, a_missing_segment_is_the_reason_of_its_gap) {
  FixtureFile first, third;
  first.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{0, 0}}).values(1, 1, {{5}});
  third.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{9, 0}}).values(1, 1, {{6}});
  RunFiles files = fixture_files({first.bytes(), third.bytes()}, 0.95);
  files.segments[1].name = "samples-0003.seg";
  const auto run = open_fixture(std::move(files));
  ASSERT_EQ(run->sampling().gaps.size(), 1U);
  EXPECT_EQ(run->sampling().gaps[0].reason, "samples-0002.seg is missing");
}

TEST(sampling, all_missing_segments_are_named) {
  FixtureFile first, sixth;
  first.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{0, 0}}).values(1, 1, {{5}});
  sixth.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{9, 0}}).values(1, 1, {{6}});
  RunFiles files = fixture_files({first.bytes(), sixth.bytes()}, 0.95);
  files.segments[1].name = "samples-0006.seg";
  const auto run = open_fixture(std::move(files));
  ASSERT_EQ(run->sampling().gaps.size(), 1U);
  EXPECT_EQ(run->sampling().gaps[0].reason, "samples-0002.seg to samples-0005.seg are missing");
}

// A file may consist of nothing but damaged frames: most of them are only counted. Where they cost
// rows, the gap still has its reason.
TEST(sampling, many_damages_are_counted_not_listed) {
  constexpr size_t kDamages = 5000;
  const auto add_damages = [](FixtureFile& file) {
    for (size_t i = 0; i < kDamages; ++i) file.frame(FrameType::times, "");
  };
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {kGauge}).times(0, 1, {{0, 0}}).values(1, 1, {{5}});
  add_damages(file);
  file.times(0, 2, {{1, 0}}).values(1, 2, {{6}});
  add_damages(file);
  file.times(0, 3, {{9, 0}}).values(1, 3, {{7}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.95));
  const std::vector<Gap>& gaps = run->sampling().gaps;
  ASSERT_EQ(gaps.size(), kMaxListedDamages + 1);
  EXPECT_NE(gaps[kMaxListedDamages - 1].reason.find("and 4000 more places"), std::string::npos)
      << gaps[kMaxListedDamages - 1].reason;
  EXPECT_NE(gaps.back().reason.find("samples-0001.seg: frame at offset"), std::string::npos)
      << gaps.back().reason;
}

}  // namespace sampling_test
}  // namespace trainscope
