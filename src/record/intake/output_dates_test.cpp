#include "record/intake/output_dates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "format/format.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace output_dates_test {

constexpr int64_t kPause = 100'000'000;

class OutputDatesTest : public testing::Test {
 protected:
  std::vector<OutputTime> times() const {
    const auto bytes = read_file(path_);
    return bytes ? parse_output_times(*bytes) : std::vector<OutputTime>();
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/output.times";
  OutputDates dates_;
};

TEST_F(OutputDatesTest, at_most_one_record_per_pause) {
  dates_.open(path_, true);
  for (int i = 0; i < 100; ++i) dates_.note(1000 + i * (kPause / 10), static_cast<size_t>(i));
  const auto found = times();
  ASSERT_EQ(found.size(), 10U);
  EXPECT_EQ(found[3].time_ns, 1000 + 3 * kPause);
  EXPECT_EQ(found[3].offset, 30U);
  EXPECT_EQ(found[3].within_ns, kPause);
}

TEST_F(OutputDatesTest, output_of_a_month_takes_a_few_megabytes) {
  dates_.open(path_, true);
  const int64_t month_ns = int64_t{30} * 86400 * 1'000'000'000;
  size_t offset = 0;
  for (int64_t now = 1; now < month_ns; now += kPause) {
    // Not each tenth of a second, or the test takes minutes: later ones are too early anyway.
    const auto pauses = output_pause_ns(offset) / kPause;
    dates_.note(now, offset++);
    now += (pauses - 1) * kPause;
  }
  EXPECT_LT(read_file(path_)->size(), 6'000'000U);
  EXPECT_GT(times().size(), 300'000U);
  EXPECT_EQ(times().size(), offset);
  // Hours of steps of a second are all there.
  EXPECT_LT(output_pause_ns(size_t{36} * 3600), 1'000'000'000);
}

TEST_F(OutputDatesTest, half_a_record_is_written_over) {
  std::string bytes;
  append_output_time(bytes, 5, 0);
  ASSERT_TRUE(replace_file(path_, bytes + "half of"));
  dates_.open(path_, false);
  dates_.note(6, 10);
  ASSERT_EQ(times().size(), 2U);
  EXPECT_EQ(times().back().offset, 10U);
  dates_.open(path_, true);
  EXPECT_TRUE(times().empty());
}

TEST_F(OutputDatesTest, what_cannot_be_written_is_written_later) {
  const std::string folder = folder_.path() + "/later";
  OutputDates dates;
  dates.open(folder + "/output.times", true);
  dates.note(1, 0);
  dates.note(1 + kPause, 10);
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  dates.note(1 + 2 * kPause, 20);
  const auto found = parse_output_times(*read_file(folder + "/output.times"));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].time_ns, 1 + kPause);
  EXPECT_EQ(found[1].offset, 10U);
}

TEST_F(OutputDatesTest, of_very_many_that_cannot_be_written_the_reader_learns) {
  const std::string folder = folder_.path() + "/later";
  OutputDates dates;
  dates.open(folder + "/output.times", true);
  for (size_t i = 0; i < 5000; ++i) dates.note(1 + static_cast<int64_t>(i) * kPause, i);
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  dates.note(1 + 6000 * kPause, 6000);  // which writes what waits
  dates.note(1 + 6001 * kPause, 6001);
  const auto found = parse_output_times(*read_file(folder + "/output.times"));
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found.back().offset, 6001U);
  const OutputTime& before = found[found.size() - 2];
  EXPECT_EQ(before.time_ns + before.within_ns, found.back().time_ns);
}

}  // namespace output_dates_test
}  // namespace trainscope
