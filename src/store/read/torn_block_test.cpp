// A segment that ends within a block, because a write failed or was interrupted.
#include <gtest/gtest.h>

#include "store/read/run_fixture.h"

namespace trainscope {
namespace torn_block_test {

const FixtureColumn kTemperature = {"hw.temperature", {}, "Cel", Kind::gauge, {1, 1000}};
const FixtureColumn kIo = {"job.io.bytes", {{"direction", "read"}}, "By", Kind::counter, {1, 1}};
const FixtureColumn kPower = {"hw.power", {}, "W", Kind::gauge, {1, 1}};

// Two sources in stream 0 and one in stream 1.
FixtureFile schemas() {
  FixtureFile file;
  file.head(1)
      .schema(1, 0, 100 * kMs, "a", {kTemperature})
      .schema(2, 0, 100 * kMs, "b", {kIo})
      .schema(3, 1, 100 * kMs, "c", {kPower});
  return file;
}

void add_first_block(FixtureFile& file) {
  file.times(0, 1, {{0, 0}, {1, 0}}).values(1, 1, {{40000}, {41000}}).values(2, 1, {{5}, {6}});
  file.times(1, 1, {{0, 0}}).values(3, 1, {{200}});
}

void add_second_block(FixtureFile& file, bool sealed = true) {
  file.times(0, 2, {{2, 0}, {3, 0}}).values(1, 2, {{42000}, {43000}}, sealed);
  file.values(2, 2, {{7}, {9}}, sealed);
  file.times(1, 2, {{3, 0}}).values(3, 2, {{230}}, sealed);
}

std::string values_of(const RunView& run) {
  std::string text = fmt::format("{} samples\n", run.sampling().samples);
  for (size_t i = 0; i < run.series().size(); ++i) {
    const std::string name = series_text(run.series()[i]);
    if (run.series()[i].derived) continue;
    const auto summary = run.summary(i);
    text += fmt::format("{} {} of {} to {}\n", name, points_text(run, name),
                        summary ? summary->samples : -1, summary ? summary->last.value_or(-1) : -1);
  }
  return text;
}

// A segment of two blocks, and where the second one begins: it is cut at each of its bytes.
class TornBlock : public testing::Test {
 protected:
  TornBlock() {
    FixtureFile file = schemas();
    add_first_block(file);
    begin_ = file.bytes().size();
    add_second_block(file);
    whole_ = file.bytes();
    truth_ = values_of(*open_fixture(fixture_files({whole_}, 0.35)));
  }

  size_t begin_ = 0;
  std::string whole_, truth_;
};

TEST_F(TornBlock, its_values_are_read_from_the_next_segment) {
  FixtureFile next = schemas();
  add_second_block(next);
  for (size_t size = begin_; size <= whole_.size(); ++size) {
    const auto run = open_fixture(fixture_files({whole_.substr(0, size), next.bytes()}, 0.35));
    EXPECT_EQ(values_of(*run), truth_) << size;
    EXPECT_TRUE(run->sampling().gaps.empty()) << size;
  }
}

TEST_F(TornBlock, its_values_are_read_from_the_tail) {
  FixtureFile tail;
  add_second_block(tail, false);
  for (size_t size = begin_; size <= whole_.size(); ++size) {
    const auto run = open_fixture(fixture_files({whole_.substr(0, size)}, 0.35, tail.bytes()));
    EXPECT_EQ(values_of(*run), truth_) << size;
    EXPECT_TRUE(run->sampling().gaps.empty()) << size;
    // As a power loss leaves it.
    std::string zeros = whole_.substr(0, size);
    zeros.resize(whole_.size() + 100);
    EXPECT_EQ(values_of(*open_fixture(fixture_files({zeros}, 0.35, tail.bytes()))), truth_) << size;
  }
}

// The tail lacks the rows of the last second, which are only in what is left of the block.
TEST_F(TornBlock, rows_that_are_nowhere_else_are_kept) {
  FixtureFile tail;
  tail.times(0, 1, {{2, 0}}).values(1, 1, {{42000}}, false).values(2, 1, {{7}}, false);
  FixtureFile file = schemas();
  add_first_block(file);
  file.times(0, 2, {{2, 0}, {3, 0}}).values(1, 2, {{42000}, {43000}});
  const auto run = open_fixture(fixture_files({file.bytes()}, 0.35, tail.bytes()));
  EXPECT_EQ(points_text(*run, "hw.temperature"), "0=40 0.1=41 0.2=42 0.3=43");
  EXPECT_EQ(points_text(*run, "job.io.bytes{direction=read}"), "0=5 0.1=6 0.2=7 0.3=-");
}

}  // namespace torn_block_test
}  // namespace trainscope
