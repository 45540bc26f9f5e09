#include "record/event_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text.h"
#include "record/test_ring.h"
#include "store/training.h"
#include "tfrecord/tfrecord.h"

namespace trainscope {
namespace {

// An event as TensorBoard's writers write it: {wall_time, step, summary {value {tag,
// simple_value}}}.
std::string event(double wall_time_s, char step, const std::string& tag, float value) {
  std::string number(4, '\0'), time(8, '\0');
  std::memcpy(number.data(), &value, 4);
  std::memcpy(time.data(), &wall_time_s, 8);
  const auto sized = [](char key, const std::string& text) {
    return std::string(1, key) + static_cast<char>(text.size()) + text;
  };
  const std::string scalar = sized('\x0a', tag) + "\x15" + number;
  std::string record;
  append_tf_record(record, "\x09" + time + "\x10" + step + sized('\x2a', sized('\x0a', scalar)));
  return record;
}

class EventFilesTest : public testing::Test {
 protected:
  EventFilesTest()
      : memory_(*SharedMemory::create(1 << 20)),
        ring_(memory_),
        folder_(std::filesystem::temp_directory_path() /
                ("events-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())),
        files_({folder_}, sink_, [this](const std::string& text) { told_.push_back(text); }) {
    std::filesystem::create_directories(folder_ / "train");
  }
  ~EventFilesTest() override {
    std::filesystem::remove_all(folder_);
    memory_.unmap();
  }

  void append(const std::string& bytes) {
    std::ofstream(folder_ / "train/events.out.tfevents.1.host.v2", std::ios::app | std::ios::binary)
        << bytes;
  }
  std::string kept() {
    files_.find({}, 1000 * kNsPerSecond);
    files_.read({1000 * kNsPerSecond, 60 * kNsPerSecond});
    return take_reports(ring_);
  }

  SharedMemory memory_;
  Ring ring_;
  ProgressSink sink_{ring_, memory_};
  std::filesystem::path folder_;
  std::vector<std::string> told_;
  EventFiles files_;
};

TEST_F(EventFilesTest, FollowsAFileThatGrows) {
  const std::string second = event(1002.5, 2, "batch_loss", 0.25F);
  append(event(1001.5, 1, "batch_loss", 0.5F) + second.substr(0, 20));
  EXPECT_EQ(kept(), "1500000000 tensorboard step 1 loss=0.5\n");
  EXPECT_EQ(kept(), "");
  append(second.substr(20));
  EXPECT_EQ(kept(), "2500000000 tensorboard step 2 loss=0.25\n");
}

// What real writers wrote, and what TensorBoard's own reader says of it.
struct Capture {
  const char* folder;
  const char* train;  // the folder and the tag that tell of steps
  const char* tag;
  std::optional<int64_t> count;
  size_t epochs = 0;
};
constexpr Capture kCaptures[] = {
    {"keras_batch", "keras_batch/train", "batch_loss", 36, 3},
    {"keras_epoch", "keras_epoch/train", "batch_loss", std::nullopt, 3},
    {"keras_every_5", "keras_every_5/train", "batch_loss", 35},
    {"estimator", "estimator", "loss", 41},
    {"torch", "torch", "Loss/train", 46},
};

TEST_F(EventFilesTest, WhatProgramsReallyWrite) {
  const std::string data = std::string(TRAINSCOPE_TEST_DATA) + "/tensorboard/";
  const auto expected = nlohmann::json::parse(std::ifstream(data + "expected.json"));
  constexpr EventFiles::Clock kClock{1'794'000'000 * kNsPerSecond, 10'000'000 * kNsPerSecond};
  for (const Capture& capture : kCaptures) {
    EventFiles files({data + capture.folder}, sink_, [](const std::string&) {});
    files.find({}, kClock.zero_realtime_ns);
    files.read(kClock);
    std::vector<StoredReport> reports;
    const std::string lines = take_reports(ring_);
    for (const std::string_view line : split(lines, '\n')) {
      if (auto report = parse_stored_report(line)) reports.push_back(std::move(*report));
    }
    const Training training = read_training(std::move(reports), 1e7);
    EXPECT_EQ(training.count, capture.count) << capture.folder;
    EXPECT_EQ(training.epochs.size(), capture.epochs) << capture.folder;
    const auto& scalars = expected[capture.train]["scalars"];
    const auto points = scalars.value(capture.tag, nlohmann::json::array());
    ASSERT_EQ(training.steps.size(), points.size()) << capture.folder;
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(training.steps[i].step, points[i][0].get<int64_t>()) << capture.folder;
      EXPECT_EQ(training.steps[i].loss, points[i][1].get<double>()) << capture.folder;
    }
  }
}

TEST_F(EventFilesTest, LeavesWhatAnEarlierTrainingWrote) {
  append(event(900, 1, "loss", 0.5F) + event(1010, 2, "loss", 0.5F));
  EXPECT_EQ(kept(), "10000000000 tensorboard step 2 loss=0.5\n");
}

TEST_F(EventFilesTest, SaysOnceWhereAFileIsDamaged) {
  append(event(1001, 1, "loss", 0.5F) + "this is no record at all");
  EXPECT_NE(kept(), "");
  append(event(1002, 2, "loss", 0.5F));
  EXPECT_EQ(kept(), "");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("damaged at offset"), std::string::npos);
}

TEST_F(EventFilesTest, SkipsWhatIsTooLarge) {
  std::string graph;
  append_tf_record(graph, std::string(5 << 20, 'g'));
  append(graph + event(1003, 3, "loss", 0.5F));
  EXPECT_EQ(kept(), "3000000000 tensorboard step 3 loss=0.5\n");
}

}  // namespace
}  // namespace trainscope
