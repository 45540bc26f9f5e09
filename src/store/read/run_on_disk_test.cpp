// Runs that are too large for memory: the same results, and only what is needed is read.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"
#include "model/training.h"
#include "store/read/run_fixture.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace run_on_disk_test {

const FixtureColumn kTemperature = {"hw.temperature", {}, "Cel", Kind::gauge, {1, 1000}};
const FixtureColumn kIo = {"job.io.bytes", {{"direction", "read"}}, "By", Kind::counter, {1, 1}};

std::string three_blocks() {
  FixtureFile file;
  file.head(1).schema(1, 0, 100 * kMs, "a", {kTemperature, kIo});
  for (int64_t block = 1; block <= 3; ++block) {
    const int64_t tick = 3 * block;
    file.times(0, static_cast<uint64_t>(block), {{tick, 10}, {tick + 1, 0}, {tick + 2, 5}})
        .values(1, static_cast<uint64_t>(block),
                {{40000 + tick, 100 * tick}, {kAbsent, 100 * tick + 7}, {41000, 100 * tick + 9}});
  }
  file.frame(FrameType::step, "0\n300000000 pipe step 1\n600000000 pipe step 2\n");
  return file.bytes();
}

class RunOnDisk : public testing::Test {
 protected:
  // A segment that is not in memory; with its own descriptor, or opened for each part.
  RunFile stored(const std::string& bytes, bool is_open) {
    const std::string path = folder_ + "/samples-0001.seg";
    EXPECT_TRUE(replace_file(path, bytes));
    UniqueFd fd;
    if (is_open) {
      auto opened = open_regular_file(path);
      EXPECT_TRUE(opened);
      if (opened) fd = std::move(*opened);
    }
    return {"samples-0001.seg", "",
            std::make_shared<const DiskFile>(DiskFile{path, bytes.size(), std::move(fd)})};
  }
  RunFiles files(const std::string& bytes, bool is_open = true) {
    RunFiles files = fixture_files({bytes}, 1.15);
    files.segments[0] = stored(bytes, is_open);
    return files;
  }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

// Everything that can be read from a run, as text.
std::string everything(const RunView& run) {
  std::string text;
  for (size_t i = 0; i < run.series().size(); ++i) {
    text += series_text(run.series()[i]) + ": " + points_text(run, series_text(run.series()[i]));
    const auto summary = run.summary(i);
    if (!summary) continue;
    text += fmt::format(" {} {} {} {}\n", summary->samples, summary->last.value_or(-1),
                        summary->mean.value_or(-1), summary->rate.value_or(-1));
  }
  for (const Gap& gap : run.sampling().gaps) text += gap.reason + "\n";
  return text + fmt::format("{} steps", run.training().count.value_or(-1));
}

TEST_F(RunOnDisk, reads_like_one_in_memory) {
  const std::string bytes = three_blocks();
  const std::string truth = everything(*open_fixture(fixture_files({bytes}, 1.15)));
  EXPECT_NE(truth.find("2 steps"), std::string::npos);
  EXPECT_EQ(everything(*open_fixture(files(bytes, true))), truth);
  EXPECT_EQ(everything(*open_fixture(files(bytes, false))), truth);
}

TEST_F(RunOnDisk, damage_is_found_as_in_memory) {
  const std::string whole = three_blocks();
  for (size_t at = kFileHeaderBytes; at < whole.size(); at += 5) {
    std::string bad = whole;
    bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ 0x20U);
    const auto in_memory = view_run(fixture_files({bad}, 1.15));
    const auto on_disk = view_run(files(bad));
    ASSERT_TRUE(in_memory && on_disk) << at;
    EXPECT_EQ(everything(**on_disk), everything(**in_memory)) << at;
  }
  for (size_t size = kFileHeaderBytes + 1; size < whole.size(); size += 7) {
    const std::string cut = whole.substr(0, size);
    const auto in_memory = view_run(fixture_files({cut}, 1.15));
    const auto on_disk = view_run(files(cut));
    ASSERT_TRUE(in_memory && on_disk) << size;
    EXPECT_EQ(everything(**on_disk), everything(**in_memory)) << size;
  }
}

// The file is emptied once the run is open: what can still be read was in the index.
TEST_F(RunOnDisk, summaries_come_from_the_index_and_values_from_the_file) {
  const auto run = open_fixture(files(three_blocks()));
  ASSERT_EQ(::truncate((folder_ + "/samples-0001.seg").c_str(), 0), 0);
  const size_t gauge = series_index(*run, "hw.temperature");
  ASSERT_TRUE(run->summary(gauge));
  EXPECT_EQ(run->summary(gauge)->samples, 6);
  EXPECT_EQ(run->summary(gauge)->last, 41);
  EXPECT_EQ(run->sampling().samples, 9);
  const auto points = run->points(gauge, {});
  ASSERT_FALSE(points);
  EXPECT_EQ(points.error().message().find("samples-0001.seg: frame at offset "), 0U);
}

// Reported progress is read when it is wanted, not when the run is opened.
TEST_F(RunOnDisk, recorded_series_do_not_need_reported_progress) {
  const auto run = open_fixture(files(three_blocks()));
  ASSERT_EQ(::truncate((folder_ + "/samples-0001.seg").c_str(), 0), 0);
  EXPECT_EQ(run->recorded_series()[0].metric, "hw.temperature");
  EXPECT_FALSE(run->training().count);
  EXPECT_NE(run->training().reason.find("samples-0001.seg"), std::string::npos);
}

TEST_F(RunOnDisk, a_long_tail_is_not_held_either) {
  ASSERT_TRUE(write_manifest(folder_, fixture_manifest(std::nullopt)));
  const std::string first = folder_ + "/samples-0001.seg", tail = folder_ + "/tail";
  ASSERT_TRUE(replace_file(first, three_blocks()));
  ASSERT_TRUE(replace_file(tail, three_blocks()));
  ASSERT_EQ(::truncate(tail.c_str(), off_t{20} << 20), 0);  // zeros, as a power loss leaves them
  const auto files = load_run_files(folder_);
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->tail.on_disk);
  EXPECT_TRUE(files->tail.bytes.empty());
  EXPECT_FALSE(files->segments[0].on_disk);
}

}  // namespace run_on_disk_test
}  // namespace trainscope
