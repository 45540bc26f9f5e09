#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <set>

#include "store/read/run_fixture.h"

namespace trainscope {
namespace run_view_test {

const FixtureColumn kTemperature = {"hw.temperature", {}, "Cel", Kind::gauge, {1, 1000}};
const FixtureColumn kIo = {"job.io.bytes", {{"direction", "read"}}, "By", Kind::counter, {1, 1}};

FixtureFile one_block() {
  FixtureFile file;
  file.head(1)
      .schema(1, 0, 100 * kMs, "a", {kTemperature, kIo})
      .times(0, 1, {{0, 10}, {1, 20}, {2, 0}, {3, 0}})
      .values(1, 1, {{40000, 100}, {kAbsent, 150}, {41500, 150}, {41000, 400}});
  return file;
}

TEST(run_view, points_are_raw_times_scale) {
  const auto run = open_fixture(fixture_files({one_block().bytes()}, 0.35));
  EXPECT_EQ(points_text(*run, "hw.temperature"), "1e-05=40 0.10002=- 0.2=41.5 0.3=41");
  EXPECT_EQ(points_text(*run, "job.io.bytes{direction=read}", {0.1, 0.3}), "0.10002=150 0.2=150");
}

// A mount point may have any name.
TEST(run_view, labels_that_read_alike_are_different_series) {
  const FixtureColumn one = {"a", {{"x", "1;y=2"}}, "1", Kind::gauge, {}},
                      other = {"a", {{"x", "1"}, {"y", "2"}}, "1", Kind::gauge, {}};
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {one, other}).times(0, 1, {{0, 0}}).values(1, 1, {{5, 6}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.05));
  std::set<double> values;
  for (size_t i = 0; i < 2; ++i) values.insert(run->points(i, {})->value.at(0));
  EXPECT_EQ(values, (std::set<double>{5, 6}));
}

TEST(run_view, summaries_of_gauges_and_counters) {
  const auto run = open_fixture(fixture_files({one_block().bytes()}, 0.35));
  const auto gauge = run->summary(series_index(*run, "hw.temperature"));
  ASSERT_TRUE(gauge);
  EXPECT_EQ(gauge->samples, 3);
  EXPECT_DOUBLE_EQ(*gauge->min, 40);
  EXPECT_DOUBLE_EQ(*gauge->max, 41.5);
  EXPECT_DOUBLE_EQ(*gauge->mean, 122.5 / 3);
  EXPECT_FALSE(gauge->delta);
  EXPECT_FALSE(gauge->rate);
  const auto counter = run->summary(series_index(*run, "job.io.bytes{direction=read}"));
  ASSERT_TRUE(counter);
  EXPECT_FALSE(counter->mean);
  EXPECT_DOUBLE_EQ(*counter->delta, 300);
  EXPECT_NEAR(*counter->rate, 300 / 0.29999, 1e-6);
  EXPECT_DOUBLE_EQ(*counter->last, 400);
}

// The same summary by statistics (sealed) and by values (not sealed), over block borders and a
// reset.
TEST(run_view, statistics_and_values_agree) {
  const std::vector<std::vector<int64_t>> first = {{10, 100}, {12, kAbsent}},
                                          second = {{kAbsent, 130}, {11, 20}}, third = {{5, 25}};
  Summary summaries[2];
  for (const bool sealed : {false, true}) {
    FixtureFile file;
    file.schema(1, 0, 100 * kMs, "a", {kTemperature, kIo})
        .times(0, 1, {{0, 0}, {1, 0}})
        .values(1, 1, first, sealed)
        .times(0, 2, {{2, 0}, {3, 0}})
        .values(1, 2, second, sealed)
        .times(0, 3, {{4, 0}})
        .values(1, 3, third, sealed);
    const auto run = open_fixture(fixture_files({file.bytes()}, 0.45));
    const auto counter = run->summary(series_index(*run, "job.io.bytes{direction=read}"));
    ASSERT_TRUE(counter);
    EXPECT_DOUBLE_EQ(*counter->delta, 35);  // 100 to 130, a reset, 20 to 25
    EXPECT_NEAR(*counter->rate, 35 / 0.4, 1e-9);
    const auto gauge = run->summary(series_index(*run, "hw.temperature"));
    ASSERT_TRUE(gauge);
    summaries[sealed ? 1 : 0] = *gauge;
  }
  EXPECT_EQ(summaries[0].mean, summaries[1].mean);
  EXPECT_EQ(summaries[0].min, summaries[1].min);
  EXPECT_EQ(summaries[0].max, summaries[1].max);
  EXPECT_EQ(summaries[0].samples, 4);
  EXPECT_EQ(summaries[1].samples, 4);
}

TEST(run_view, a_series_over_restarts_and_the_tail_is_one) {
  FixtureFile second;
  second.head(2)
      .schema(7, 0, 100 * kMs, "a", {kIo, kTemperature})
      .times(0, 1, {{3, 0}, {4, 0}})  // tick 3 is in the first segment already
      .values(7, 1, {{999, 1}, {500, 42000}});
  FixtureFile tail;
  tail.times(0, 1, {{4, 0}, {5, 0}, {6, 0}})
      .values(7, 1, {{998, 1}, {600, 43000}, {700, 44000}}, false);
  const auto run =
      open_fixture(fixture_files({one_block().bytes(), second.bytes()}, 0.55, tail.bytes()));
  // Tick 6 is after the end of the run.
  EXPECT_EQ(points_text(*run, "job.io.bytes{direction=read}"),
            "1e-05=100 0.10002=150 0.2=150 0.3=400 0.4=500 0.5=600");
  EXPECT_EQ(points_text(*run, "hw.temperature", {0.25, 0.5}), "0.3=41 0.4=42");
  EXPECT_EQ(run->sampling().samples, 6);
  EXPECT_EQ(run->sampling().missed, 0);
  EXPECT_EQ(run->sampling().restarts, 1);
  EXPECT_TRUE(run->sampling().gaps.empty());
  const auto counter = run->summary(series_index(*run, "job.io.bytes{direction=read}"));
  ASSERT_TRUE(counter);
  EXPECT_DOUBLE_EQ(*counter->delta, 500);
}

TEST(run_view, closing_values_end_a_series_but_are_no_samples) {
  FixtureFile file = one_block();
  file.closing(1, 0.34, {43000, 1000});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.35));
  const auto counter = run->summary(series_index(*run, "job.io.bytes{direction=read}"));
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->samples, 4);
  EXPECT_DOUBLE_EQ(*counter->last, 1000);
  EXPECT_DOUBLE_EQ(*counter->delta, 900);
  EXPECT_NEAR(*counter->rate, 900 / 0.33999, 1e-6);
  const auto gauge = run->summary(series_index(*run, "hw.temperature"));
  EXPECT_DOUBLE_EQ(*gauge->last, 43);
  EXPECT_DOUBLE_EQ(*gauge->max, 43);
  EXPECT_DOUBLE_EQ(*gauge->mean, 122.5 / 3);
  EXPECT_EQ(points_text(*run, "job.io.bytes{direction=read}", {0.25, std::nullopt}), "0.3=400");
}

TEST(run_view, doubles_keep_their_bits) {
  FixtureColumn loss{"train.loss", {}, "1", Kind::gauge, {}, "f64"};
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {loss})
      .times(0, 1, {{0, 0}, {1, 0}})
      .values(1, 1, {{std::bit_cast<int64_t>(0.1)}, {std::bit_cast<int64_t>(std::nan(""))}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.15));
  const auto points = run->points(0, {});
  ASSERT_TRUE(points);
  EXPECT_EQ(points->value[0], 0.1);
  EXPECT_EQ(points->present[1], 0);
}

// Statistics do not have them, so their values are read: of several series together.
TEST(run_view, summaries_of_doubles) {
  const auto bits = [](double value) { return std::bit_cast<int64_t>(value); };
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a",
              {{"counter.a", {}, "1", Kind::gauge, {}, "f64"},
               {"counter.b", {}, "1", Kind::counter, {}, "f64"}})
      .times(0, 1, {{0, 0}, {1, 0}})
      .values(1, 1, {{bits(0.5), bits(1.5)}, {bits(std::nan("")), bits(2.5)}})
      .times(0, 2, {{2, 0}, {3, 0}})
      .values(1, 2, {{bits(2.5), bits(0.25)}, {bits(-1), kAbsent}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.35));
  const auto summaries =
      run->summaries_of({series_index(*run, "counter.a"), series_index(*run, "counter.b")});
  ASSERT_TRUE(summaries);
  const Summary &gauge = (*summaries)[0], &counter = (*summaries)[1];
  EXPECT_EQ(gauge.samples, 3);
  EXPECT_DOUBLE_EQ(*gauge.min, -1);
  EXPECT_DOUBLE_EQ(*gauge.max, 2.5);
  EXPECT_DOUBLE_EQ(*gauge.mean, 2.0 / 3);
  EXPECT_EQ(counter.samples, 3);
  EXPECT_DOUBLE_EQ(*counter.delta, 1);  // then a reset
  EXPECT_DOUBLE_EQ(*counter.rate, 1 / 0.2);
  EXPECT_DOUBLE_EQ(*counter.last, 0.25);
}

TEST(run_view, missing_metrics_and_empty_columns_are_absent_with_a_reason) {
  FixtureFile file;
  file.schema(
          1, 0, 100 * kMs, "a", {kTemperature},
          {{{"metric", "hw.power"}, {"unit", "W"}, {"reason", "no RAPL"}, {"remedy", "be root"}}})
      .times(0, 1, {{0, 0}})
      .values(1, 1, {{kAbsent}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.05));
  const Series& empty = run->series()[series_index(*run, "hw.temperature")];
  EXPECT_EQ(empty.status, SeriesStatus::absent);
  EXPECT_FALSE(empty.reason.empty());
  const Series& power = run->series()[series_index(*run, "hw.power")];
  EXPECT_EQ(power.status, SeriesStatus::absent);
  EXPECT_EQ(power.reason, "no RAPL");
  EXPECT_EQ(power.remedy, "be root");
}

TEST(run_view, a_series_that_its_source_lost_is_stale) {
  FixtureFile file = one_block();
  file.schema(2, 0, 100 * kMs, "a", {kIo}).times(0, 2, {{4, 0}}).values(2, 2, {{500}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.45));
  EXPECT_EQ(run->series()[series_index(*run, "hw.temperature")].status, SeriesStatus::stale);
  EXPECT_EQ(run->series()[series_index(*run, "job.io.bytes{direction=read}")].status,
            SeriesStatus::ok);
  EXPECT_EQ(points_text(*run, "hw.temperature", {0.25, std::nullopt}), "0.3=41 0.4=-");
}

TEST(run_view, frames_of_unknown_types_are_skipped) {
  FixtureFile file = one_block();
  file.frame(static_cast<FrameType>(9), R"({"metric":"job.io.bytes","status":"stale"})");
  file.frame(static_cast<FrameType>(200), "from a later version");
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.35));
  for (const Series& series : run->series()) EXPECT_NE(series.status, SeriesStatus::stale);
  EXPECT_TRUE(run->sampling().gaps.empty());
}

TEST(run_view, a_run_that_is_not_closed_lasts_until_its_last_row) {
  const auto run = open_fixture(fixture_files({one_block().bytes()}, std::nullopt));
  EXPECT_DOUBLE_EQ(run->duration_s(), 0.3);
  EXPECT_EQ(run->sampling().missed, 0);
}

TEST(run_view, an_empty_run_opens) {
  const auto run = open_fixture(fixture_files({}, 1.0));
  EXPECT_EQ(run->sampling().samples, 0);
  EXPECT_EQ(run->sampling().missed, 11);
  EXPECT_FALSE(run->overhead().cpu_s);
}

TEST(run_view, a_file_that_is_not_ours_is_refused_by_name) {
  for (const bool in_tail : {false, true}) {
    RunFiles files = fixture_files({one_block().bytes()}, 0.35, one_block().bytes());
    (in_tail ? files.tail : files.segments[0]).bytes = std::string(500, 'x');
    const auto run = view_run(std::move(files));
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message().find(in_tail ? "run/tail" : "samples-0001.seg"),
              std::string::npos)
        << run.error().message();
  }
}

// What is read of a damaged run, as "series@time=value".
std::set<std::string> everything(const RunView& run) {
  std::set<std::string> all;
  for (size_t i = 0; i < run.series().size(); ++i) {
    const auto points = run.points(i, {});
    if (!points) continue;
    for (size_t k = 0; k < points->time_s.size(); ++k) {
      if (points->present[k] == 0) continue;
      all.insert(fmt::format("{}@{}={}", series_text(run.series()[i]), points->time_s[k],
                             points->value[k]));
    }
    EXPECT_TRUE(run.summary(i));
  }
  return all;
}

std::string two_blocks() {
  FixtureFile file = one_block();
  file.times(0, 2, {{4, 0}, {5, 3}}).values(1, 2, {{39000, 401}, {39500, 500}});
  file.event(0.2, "note", "x").closing(1, 0.58, {nullptr, 501});
  return file.bytes();
}

TEST(run_view, every_truncation_opens_without_a_wrong_value) {
  const std::string whole = two_blocks();
  const auto truth = everything(*open_fixture(fixture_files({whole}, 0.55)));
  for (size_t n = 0; n < whole.size(); ++n) {
    auto run = view_run(fixture_files({whole.substr(0, n)}, 0.55));
    ASSERT_TRUE(run) << n << ": " << run.error().message();
    for (const std::string& one : everything(**run)) EXPECT_TRUE(truth.contains(one)) << n << one;
    EXPECT_EQ((*run)->sampling().samples + (*run)->sampling().missed, 6) << n;
  }
}

TEST(run_view, no_flipped_byte_gives_a_wrong_value) {
  const std::string whole = two_blocks();
  const auto truth = everything(*open_fixture(fixture_files({whole}, 0.55)));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned bit : {0U, 6U}) {
      std::string bad = whole;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ (1U << bit));
      auto run = view_run(fixture_files({bad}, 0.55));
      if (at < kFileHeaderBytes) {
        EXPECT_FALSE(run) << at;
        continue;
      }
      ASSERT_TRUE(run) << at;
      for (const std::string& one : everything(**run))
        EXPECT_TRUE(truth.contains(one)) << at << one;
      EXPECT_EQ((*run)->sampling().samples + (*run)->sampling().missed, 6) << at;
    }
  }
}

// Recorders before this one numbered layouts by incarnation: more than a thousand of them reached
// into the numbers of the next.
TEST(run_view, a_layout_that_takes_a_number_again_is_another_layout) {
  FixtureFile first, second;
  first.head(1)
      .schema(2000, 0, 100 * kMs, "a", {kTemperature})
      .times(0, 1, {{0, 0}})
      .values(2000, 1, {{40000}});
  second.head(2)
      .schema(2000, 0, 100 * kMs, "a", {kIo})
      .schema(2000, 0, 100 * kMs, "a", {kIo})
      .times(0, 1, {{1, 0}, {2, 0}})
      .values(2000, 1, {{100}, {250}})
      .closing(2000, 0.25, {300});
  const auto run = open_fixture(fixture_files({first.bytes(), second.bytes()}, 0.25));
  EXPECT_EQ(points_text(*run, "hw.temperature"), "0=40 0.1=- 0.2=-");
  EXPECT_EQ(points_text(*run, "job.io.bytes{direction=read}"), "0=- 0.1=100 0.2=250");
  EXPECT_EQ(run->summary(series_index(*run, "job.io.bytes{direction=read}"))->last, 300);
}

// A few thousand bytes that claim half a million messages, each of which takes memory.
TEST(run_view, a_file_that_claims_more_progress_than_it_can_hold_is_refused) {
  std::string lines = "0\n";
  std::mt19937 random(7);
  for (int i = 0; i < 10'000; ++i) lines += static_cast<char>(' ' + 1 + random() % 90);
  lines += '\n';
  for (int i = 0; i < 500'000; ++i) lines += "1 pipe step 1\n";
  FixtureFile bomb = one_block();
  const size_t offset = bomb.bytes().size();
  bomb.frame(FrameType::step, compress(lines, 19), kFrameZstd);
  ASSERT_LT(bomb.bytes().size(), 20'000U);
  const auto run = view_run(fixture_files({bomb.bytes()}, 0.35));
  ASSERT_FALSE(run);
  EXPECT_EQ(
      run.error().message().find(fmt::format("run/samples-0001.seg: frame at offset {}: ", offset)),
      0U)
      << run.error().message();
}

// The rest of the run can be read.
TEST(run_view, a_frame_of_progress_that_decompresses_to_too_much_is_damage) {
  FixtureFile bomb = one_block();
  const size_t offset = bomb.bytes().size();
  bomb.frame(FrameType::step, compress("0\n1 pipe step " + std::string(8'000'000, '1'), 3),
             kFrameZstd);
  const auto run = open_fixture(fixture_files({bomb.bytes()}, 0.35));
  ASSERT_EQ(run->sampling().gaps.size(), 1U);
  EXPECT_EQ(run->sampling().gaps[0].reason.find(
                fmt::format("samples-0001.seg: frame at offset {}: ", offset)),
            0U);
}

// Many small frames may claim no more than one large one.
TEST(run_view, frames_of_progress_add_up) {
  std::string lines = "0\n";
  for (int i = 0; i < 4000; ++i) lines += "1 pipe step 1\n";
  FixtureFile bomb = one_block();
  for (int i = 0; i < 1000; ++i) {
    bomb.frame(FrameType::step, compress(fmt::format("{}\n{}", i * 4000, lines.substr(2)), 19),
               kFrameZstd);
  }
  EXPECT_FALSE(view_run(fixture_files({bomb.bytes()}, 0.35)));
}

// What the recorder itself compresses best: numbers that count up, all read at one moment.
TEST(run_view, honest_progress_is_never_too_much) {
  std::string lines = "0\n";
  for (int i = 1'000'000; i < 1'200'000; ++i) lines += fmt::format("5000000000 pipe step {}\n", i);
  FixtureFile file = one_block();
  file.frame(FrameType::step, compress(lines, 3), kFrameZstd);
  EXPECT_TRUE(view_run(fixture_files({file.bytes()}, 0.35)));
}

TEST(run_view, a_power_loss_leaves_zeros) {
  FixtureFile more;
  more.head(1).times(0, 1, {{4, 0}}).values(1, 1, {{42000, 500}}, false);
  const std::string good = one_block().bytes();
  const std::string zeros(4096, '\0');
  std::string half = more.bytes();
  std::fill_n(half.begin(), kFileHeaderBytes, '\0');
  for (const std::string& last : {std::string(), zeros.substr(0, 9), zeros, half}) {
    const auto run = view_run(fixture_files({good, last}, 0.45, zeros));
    ASSERT_TRUE(run) << last.size();
    EXPECT_EQ((*run)->sampling().samples, last == half ? 5 : 4);
  }
}

}  // namespace run_view_test
}  // namespace trainscope
