#include "store/read/run_follower.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "store/read/run_fixture.h"
#include "store/store.h"
#include "testing/temporary_folder.h"
#include "training/training.h"

namespace trainscope {
namespace run_follower_test {

const FixtureColumn kBytes = {"job.io.bytes", {{"direction", "read"}}, "By", Kind::counter, {1, 1}};
const FixtureColumn kUsage = {"job.cpu.time", {{"mode", "user"}}, "s", Kind::counter, {1, 10}};
const std::string kSeries = "job.io.bytes{direction=read}";

FixtureFile& add_rows(FixtureFile& file, int64_t from, int64_t to, bool sealed, int schema = 1) {
  std::vector<RowTime> times;
  std::vector<std::vector<int64_t>> rows;
  for (int64_t tick = from; tick < to; ++tick) {
    times.push_back({tick, 0});
    rows.push_back({100 * tick, tick});
  }
  file.times(0, static_cast<uint64_t>(from + 1), times);
  return file.values(schema, static_cast<uint64_t>(from + 1), rows, sealed);
}

FixtureFile beginning() {
  FixtureFile file;
  file.head(1).schema(1, 0, 100 * kMs, "a", {kBytes, kUsage});
  return file;
}

// A run folder that looks as if it was being recorded: its files have just been written.
class Follower : public testing::Test {
 protected:
  Follower() {
    EXPECT_EQ(::mkdir(path_.c_str(), 0700), 0);
    write("reserve", "");
    write_end(std::nullopt);
  }
  void write_end(std::optional<double> duration_s) {
    Manifest manifest = fixture_manifest(duration_s);
    manifest.host_name = "elsewhere";
    EXPECT_TRUE(write_manifest(path_, manifest));
  }
  void write(const std::string& name, const std::string& bytes) {
    EXPECT_TRUE(replace_file(path_ + "/" + name, bytes));
  }
  // The times of all rows of a part.
  std::string new_rows(RunFollower& follower) {
    const auto part = follower.read_new();
    if (!part) return part.error().message();
    return *part == nullptr ? "nothing" : points_text(**part, kSeries);
  }

  TemporaryFolder temporary_;
  const std::string path_ = temporary_.path() + "/0123456789";
};

TEST_F(Follower, a_part_has_the_new_rows_and_the_block_before) {
  FixtureFile segment = beginning();
  add_rows(segment, 0, 3, true);
  write("samples-0001.seg", segment.bytes());
  RunFollower follower(path_);
  const auto whole = follower.open();
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(points_text(**whole, kSeries), "0=0 0.1=100 0.2=200");
  EXPECT_TRUE(follower.is_running());
  EXPECT_EQ(new_rows(follower), "nothing");

  FixtureFile tail;
  write("tail", add_rows(tail, 3, 5, false).bytes());
  EXPECT_EQ(new_rows(follower), "0=0 0.1=100 0.2=200 0.3=300 0.4=400");
  // The rows of the tail are sealed, and more.
  write("samples-0001.seg", add_rows(segment, 3, 6, true).bytes());
  EXPECT_EQ(new_rows(follower), "0=0 0.1=100 0.2=200 0.3=300 0.4=400 0.5=500");
  FixtureFile next;
  write("tail", add_rows(next, 6, 7, false).bytes());
  EXPECT_EQ(new_rows(follower), "0.3=300 0.4=400 0.5=500 0.6=600");
}

TEST_F(Follower, a_new_segment_and_a_new_schema_are_found) {
  FixtureFile first = beginning();
  write("samples-0001.seg", add_rows(first, 0, 2, true).bytes());
  RunFollower follower(path_);
  ASSERT_TRUE(follower.open());
  FixtureFile second = beginning();
  second.schema(2, 0, 100 * kMs, "a", {kBytes, kUsage});
  write("samples-0002.seg", second.bytes());
  FixtureFile tail;
  write("tail", add_rows(tail, 2, 3, false, 2).bytes());
  EXPECT_EQ(new_rows(follower), "0=0 0.1=100 0.2=200");
}

// The writer appends several frames; a reader may see some of them, or half of one.
TEST_F(Follower, what_is_half_there_is_read_when_it_is_whole) {
  FixtureFile segment = beginning();
  const size_t before = segment.bytes().size();
  add_rows(segment, 0, 3, true);
  for (size_t size = before; size < segment.bytes().size(); ++size) {
    write("samples-0001.seg", segment.bytes().substr(0, size));
    RunFollower follower(path_);
    ASSERT_TRUE(follower.open());
    write("samples-0001.seg", segment.bytes());
    EXPECT_EQ(new_rows(follower), "0=0 0.1=100 0.2=200") << size;
  }
}

TEST_F(Follower, a_run_that_has_ended_was_read_to_its_end) {
  FixtureFile segment = beginning();
  write("samples-0001.seg", add_rows(segment, 0, 3, true).bytes());
  RunFollower follower(path_);
  ASSERT_TRUE(follower.open());
  write("samples-0001.seg", add_rows(segment, 3, 4, true).bytes());
  write_end(0.35);
  EXPECT_EQ(new_rows(follower), "0=0 0.1=100 0.2=200 0.3=300");
  EXPECT_FALSE(follower.is_running());
}

std::string reports(int64_t from, int64_t to) {
  std::string lines = std::to_string(from) + "\n";
  for (int64_t i = from; i < to; ++i) {
    lines += fmt::format("{} pipe step {} lr=0.5\n", (i + 1) * 10 * kMs, i + 1);
  }
  return lines;
}

std::string steps_of(const RunView& run) {
  if (run.training().details == nullptr) return "unknown";
  std::string text;
  const auto reader = run.training().details->steps();
  for (Step step;;) {
    const auto has_more = reader->next(step);
    if (!has_more || !*has_more) return text;
    text += std::to_string(step.step) + " ";
  }
}

TEST_F(Follower, a_part_has_the_steps_that_became_complete) {
  FixtureFile segment = beginning();
  add_rows(segment, 0, 3, true).frame(FrameType::step, reports(0, 5));
  write("samples-0001.seg", segment.bytes());
  RunFollower follower(path_, Followed::steps);
  const auto whole = follower.open();
  ASSERT_TRUE(whole);
  EXPECT_EQ(steps_of(**whole), "1 2 3 4 5 ");
  // The tail is written again and again; some of it is sealed in between.
  FixtureFile tail;
  write("tail", add_rows(tail, 3, 4, false).frame(FrameType::step, reports(5, 7)).bytes());
  auto part = follower.read_new();
  ASSERT_TRUE(part);
  EXPECT_TRUE(follower.has_steps());
  EXPECT_EQ(steps_of(**part), "4 5 ")
      << "the whole run has its last steps before they are complete";
  FixtureFile longer;
  write("tail", add_rows(longer, 3, 5, false).frame(FrameType::step, reports(5, 9)).bytes());
  part = follower.read_new();
  ASSERT_TRUE(part);
  EXPECT_EQ(steps_of(**part), "6 7 ");
  segment.frame(FrameType::step, reports(5, 9));
  write("samples-0001.seg", segment.bytes());
  FixtureFile last;
  write("tail", add_rows(last, 3, 6, false).frame(FrameType::step, reports(9, 10)).bytes());
  part = follower.read_new();
  ASSERT_TRUE(part);
  EXPECT_EQ(steps_of(**part), "8 ");
  EXPECT_TRUE(follower.has_steps());
}

TEST_F(Follower, the_whole_run_is_shown_without_reading_its_steps_again) {
  FixtureFile segment = beginning();
  add_rows(segment, 0, 3, true).frame(FrameType::step, reports(0, 5));
  write("samples-0001.seg", segment.bytes());
  RunFollower follower(path_, Followed::run);
  ASSERT_TRUE(follower.open());
  FixtureFile tail;
  write("tail", add_rows(tail, 3, 5, false).frame(FrameType::step, reports(5, 9)).bytes());
  const auto now = follower.read_new();
  ASSERT_TRUE(now);
  EXPECT_TRUE(follower.has_steps());
  EXPECT_EQ(points_text(**now, kSeries), "0=0 0.1=100 0.2=200 0.3=300 0.4=400");
  const auto expected = open_run(path_);
  ASSERT_TRUE(expected);
  const Training &followed = (*now)->training(), &read = (*expected)->training();
  EXPECT_EQ(followed.count, read.count);
  EXPECT_EQ(followed.statistics.p50_s, read.statistics.p50_s);
  EXPECT_EQ(followed.statistics.mean_s, read.statistics.mean_s);
  EXPECT_EQ(steps_of(**now), steps_of(**expected));
  // A source that takes precedence: everything is read again.
  write("tail", FixtureFile(tail)
                    .frame(FrameType::step, "9\n400000000 pipe phase checkpoint 0.39\n")
                    .bytes());
  const auto again = follower.read_new();
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->training().phases.size(), 1U);
  EXPECT_EQ(steps_of(**again), steps_of(**open_run(path_)));
}

TEST_F(Follower, zeros_and_strange_files_do_no_harm) {
  FixtureFile segment = beginning();
  write("samples-0001.seg", segment.bytes());
  RunFollower follower(path_);
  ASSERT_TRUE(follower.open());
  write("samples-0001.seg", segment.bytes() + std::string(5000, '\0'));
  EXPECT_EQ(new_rows(follower), "nothing");
  write("manifest.json", "{");
  write("samples-0001.seg", add_rows(segment, 0, 1, true).bytes() + "Ts and not a frame");
  EXPECT_EQ(new_rows(follower), "0=0");
  ::unlink((path_ + "/samples-0001.seg").c_str());
  ASSERT_EQ(::mkdir((path_ + "/samples-0002.seg").c_str(), 0700), 0);
  EXPECT_NE(new_rows(follower), "0=0");
}

}  // namespace run_follower_test
}  // namespace trainscope
