#include "record/intake/event_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "parse/parse.h"
#include "record/sample/test_ring.h"
#include "testing/listed_reports.h"
#include "training/training.h"

namespace trainscope {
namespace event_files_test {

// An event as TensorBoard's writers write it: {wall_time, step, summary {value {tag,
// simple_value}}}.
std::string event(double wall_time_s, const std::string& step, const std::string& tag,
                  float value) {
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

std::string event(double wall_time_s, char step, const std::string& tag, float value) {
  return event(wall_time_s, std::string(1, step), tag, value);
}

class EventFilesTest : public testing::Test {
 protected:
  EventFilesTest()
      : memory_(*SharedMemory::create(1 << 20)),
        ring_(memory_),
        folder_(std::filesystem::temp_directory_path() /
                ("events-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())),
        files_({folder_}, sink_, memory_, [this](const std::string& text) {
          warnings_.push_back(text);
          if (on_tell_) on_tell_();
        }) {
    std::filesystem::create_directories(folder_ / "train");
  }
  ~EventFilesTest() override {
    std::filesystem::remove_all(folder_);
    memory_.unmap();
  }

  void append(const std::string& bytes) {
    std::ofstream(folder_ / kFile, std::ios::app | std::ios::binary) << bytes;
  }
  // As if the file were last written to long before the run: nothing but its growth counts.
  void make_old() {
    const timespec long_ago[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / kFile).c_str(), long_ago, 0), 0);
  }
  // t = 0 was at 1000 s of the wall clock.
  std::string kept(int64_t now_s = 60) { return kept_by(files_, now_s); }
  std::string kept_by(EventFiles& files, int64_t now_s) {
    files.find_in_folders(1000 * kNsPerSecond);
    files.read({1000 * kNsPerSecond, now_s * kNsPerSecond});
    return take_reports(ring_);
  }

  void finish(int64_t now_s = 60) {
    files_.finish({}, {1000 * kNsPerSecond, now_s * kNsPerSecond});
  }
  void fill(size_t count, const std::string& name = "events.out.tfevents.") {
    for (size_t i = 0; i < count; ++i) {
      std::ofstream(folder_ / (name + std::to_string(i))) << "";
    }
  }

  static constexpr const char* kFile = "train/events.out.tfevents.1.host.v2";

  SharedMemory memory_;
  Ring ring_;
  ProgressSink sink_{ring_, memory_};
  std::filesystem::path folder_;
  std::vector<std::string> warnings_;
  std::function<void()> on_tell_;
  EventFiles files_;
};

TEST_F(EventFilesTest, follows_a_file_that_grows) {
  const std::string second = event(1002.5, 2, "batch_loss", 0.25F);
  append(event(1001.5, 1, "batch_loss", 0.5F) + second.substr(0, 20));
  EXPECT_EQ(kept(), "1500000000 tensorboard step 1 loss=0.5\n");
  EXPECT_EQ(kept(), "");
  append(second.substr(20));
  EXPECT_EQ(kept(), "2500000000 tensorboard step 2 loss=0.25\n");
}

// The number of a step as protobuf writes it: seven bits per byte, the lowest first.
TEST_F(EventFilesTest, step_numbers_that_are_times_are_counted_and_left_out) {
  const std::string small = event(1001.5, 1, "batch_loss", 0.5F);
  append(small);
  EXPECT_EQ(kept(), "1500000000 tensorboard step 1 loss=0.5\n");
  EXPECT_EQ(files_.values_left_out(), 0);
  append(event(1002.5, std::string("\x81\x80\x80\x80\x80\x80\x80\x10"), "batch_loss", 0.5F));
  EXPECT_EQ(kept(), "");
  EXPECT_EQ(files_.values_left_out(), 1) << "2^53 + 1";
  append(event(1003.5, std::string("\x80\x80\x80\x80\x80\x80\x80\x10"), "batch_loss", 0.5F));
  EXPECT_EQ(kept(), "3500000000 tensorboard step 9007199254740992 loss=0.5\n");
}

TEST_F(EventFilesTest, events_without_a_date_are_skipped_and_told_of) {
  append(event(1001.5, 1, "batch_loss", 0.5F) + event(NAN, 2, "batch_loss", 0.5F) +
         event(1e300, 3, "batch_loss", 0.5F) + event(-9e9, 4, "batch_loss", 0.5F) +
         event(9e9, 5, "batch_loss", 0.5F));
  EXPECT_EQ(kept(), "1500000000 tensorboard step 1 loss=0.5\n");
  ASSERT_EQ(warnings_.size(), 1U) << warnings_[1];
  EXPECT_TRUE(warnings_[0].ends_with("events without a valid date are skipped")) << warnings_[0];
}

// Files of real writers, and their values according to TensorBoard's own reader.
struct Capture {
  const char* folder;
  const char* train;  // the folder and the tag that report steps
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

TEST_F(EventFilesTest, what_programs_really_write) {
  const std::string data = std::string(TRAINSCOPE_TEST_DATA) + "/tensorboard/";
  const auto expected = Json::parse(std::ifstream(data + "expected.json"));
  constexpr EventFiles::Clock kClock{1'794'000'000 * kNsPerSecond, 10'000'000 * kNsPerSecond};
  for (const Capture& capture : kCaptures) {
    EventFiles files({data + capture.folder}, sink_, memory_, [](const std::string&) {});
    files.find_in_folders(kClock.zero_realtime_ns);
    files.read(kClock);
    std::vector<StoredReport> reports;
    const std::string lines = take_reports(ring_);
    for (const std::string_view line : split(lines, '\n')) {
      if (auto report = parse_stored_report(line)) reports.push_back(std::move(*report));
    }
    const ListedTraining training = read_listed(std::move(reports), 1e7);
    EXPECT_EQ(training.count, capture.count) << capture.folder;
    EXPECT_EQ(training.epochs.size(), capture.epochs) << capture.folder;
    const auto& scalars = expected[capture.train]["scalars"];
    const auto points = scalars.value(capture.tag, Json::array());
    ASSERT_EQ(training.steps.size(), points.size()) << capture.folder;
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(training.steps[i].step, points[i][0].get<int64_t>()) << capture.folder;
      EXPECT_EQ(training.steps[i].loss, points[i][1].get<double>()) << capture.folder;
    }
  }
}

TEST_F(EventFilesTest, leaves_what_an_earlier_training_wrote) {
  append(event(900, 1, "loss", 0.5F) + event(1010, 2, "loss", 0.5F));
  EXPECT_EQ(kept(), "10000000000 tensorboard step 2 loss=0.5\n");
}

TEST_F(EventFilesTest, says_once_where_a_file_is_damaged) {
  append(event(1001, 1, "loss", 0.5F) + "this is no record at all");
  EXPECT_NE(kept(), "");
  append(event(1002, 2, "loss", 0.5F));
  EXPECT_EQ(kept(), "");
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("damaged at offset"), std::string::npos);
}

TEST_F(EventFilesTest, skips_what_is_too_large) {
  std::string graph;
  append_tf_record(graph, std::string(5 << 20, 'g'));
  append(graph + event(1003, 3, "loss", 0.5F));
  EXPECT_EQ(kept(), "3000000000 tensorboard step 3 loss=0.5\n");
}

std::string line(double time_s, int step) {
  return std::to_string(std::llround(time_s * 1e9)) + " tensorboard step " + std::to_string(step) +
         " loss=0.5\n";
}

std::string events(double from_s, int first_step, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += event(from_s + i, static_cast<char>(first_step + i), "loss", 0.5F);
  }
  return all;
}

TEST_F(EventFilesTest, a_clock_that_is_set_back_costs_no_step) {
  append(events(1001, 1, 2));
  EXPECT_EQ(kept(3), line(1, 1) + line(2, 2));
  // An hour back: dated before the run, but written after events of this run.
  append(events(1003 - 3600, 3, 3));
  EXPECT_EQ(kept(6), line(4, 3) + line(5, 4) + line(6, 5));
  append(events(1006 - 3600, 6, 2));
  EXPECT_EQ(kept(8), line(7, 6) + line(8, 7));
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(EventFilesTest, a_clock_that_is_ahead_keeps_the_time_between_steps) {
  append(events(1000 + 7200, 1, 3));
  EXPECT_EQ(kept(10), line(8, 1) + line(9, 2) + line(10, 3));
  append(events(1000 + 7203, 4, 1));
  EXPECT_EQ(kept(11), line(11, 4));
}

TEST_F(EventFilesTest, a_writer_on_another_clock_is_known_by_its_growing_file) {
  EXPECT_EQ(kept(0), "");
  append(events(500, 1, 2));
  EXPECT_EQ(kept(5), "");
  append(events(502, 3, 2));
  EXPECT_EQ(kept(7), line(4, 1) + line(5, 2) + line(6, 3) + line(7, 4));
  append(events(504, 5, 1));
  EXPECT_EQ(kept(8), line(8, 5));
}

TEST_F(EventFilesTest, the_file_of_an_earlier_training_that_is_copied_is_left_and_told) {
  EXPECT_EQ(kept(0), "");
  append(events(100, 1, 20));
  EXPECT_EQ(kept(5), "");
  EXPECT_EQ(kept(6), "");
  append(events(400, 21, 20));  // more than time passes
  EXPECT_EQ(kept(7), "");
  finish();
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("older than this run"), std::string::npos) << warnings_[0];
}

TEST_F(EventFilesTest, what_is_appended_to_an_old_file_is_of_this_training) {
  append(events(100, 1, 2));
  make_old();
  EXPECT_EQ(kept(0), "");
  append(events(200, 3, 2));
  make_old();
  EXPECT_EQ(kept(9), line(8, 3) + line(9, 4));
}

// According to the file system it was written to just now.
TEST_F(EventFilesTest, the_last_second_of_the_training_before_is_not_of_this_one) {
  append(events(999.25, 1, 1) + events(999.9, 2, 1));
  EXPECT_EQ(kept(0), "");
  EXPECT_EQ(kept(1), "");
  finish();
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(EventFilesTest, what_this_training_wrote_before_the_first_search_is_taken) {
  append(events(999.9, 1, 1) + events(1000.1, 2, 1));
  EXPECT_EQ(kept(1), line(0.1, 2));
}

TEST_F(EventFilesTest, a_file_that_came_later_may_be_of_a_clock_that_is_a_little_behind) {
  EXPECT_EQ(kept(0), "");
  append(events(999.5, 1, 2));
  EXPECT_EQ(kept(2), line(0, 1) + line(0.5, 2));
}

TEST_F(EventFilesTest, the_next_recorder_goes_on_where_this_one_ended) {
  append(events(1001, 1, 2));
  EXPECT_NE(kept(3), "");
  append(events(500, 3, 2));
  EXPECT_EQ(kept(5), line(4, 3) + line(5, 4));
  append(events(502, 5, 1));
  EventFiles next({folder_}, sink_, memory_, [](const std::string&) {});
  EXPECT_EQ(kept_by(next, 6), line(6, 5));
}

TEST_F(EventFilesTest, more_files_than_are_read_are_reported) {
  fill(kMaxEventFiles + 2);
  kept();
  kept();
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("more than 256 event files"), std::string::npos) << warnings_[0];
}

// Which files were there is unknown then: one that is found later may be of an earlier training.
TEST_F(EventFilesTest, a_folder_with_more_entries_than_are_searched_is_reported) {
  for (const size_t max_entries : {10U, 200U}) {
    fill(100, "other.");
    warnings_.clear();
    EventFiles files(
        {folder_}, sink_, memory_, [this](const std::string& text) { warnings_.push_back(text); },
        max_entries);
    EXPECT_EQ(kept_by(files, 1), "");
    const bool knows_all = max_entries == 200U;
    EXPECT_EQ(warnings_.size(), knows_all ? 0U : 1U);
    if (!knows_all) {
      EXPECT_NE(warnings_[0].find("more than 10 entries; event files in the oldest"),
                std::string::npos)
          << warnings_[0];
    }
    for (int i = 0; i < 100; ++i) {
      std::filesystem::remove(folder_ / ("other." + std::to_string(i)));
    }
    // A date before the run: of this training only if the file is known to be new.
    append(event(999.5, 1, "batch_loss", 0.5F));
    make_old();
    EXPECT_EQ(kept_by(files, 2), knows_all ? "0 tensorboard step 1 loss=0.5\n" : "");
    std::filesystem::remove(folder_ / kFile);
  }
}

// A search that takes long does not delay files that are known.
TEST_F(EventFilesTest, at_the_end_known_files_are_read_before_the_folder_is_searched) {
  append(events(1001, 1, 1));
  EXPECT_EQ(kept(2), line(1, 1));
  append(events(1002, 2, 1));
  fill(kMaxEventFiles + 2);
  std::string read_before_search;
  on_tell_ = [&] { read_before_search = take_reports(ring_); };
  finish(3);
  EXPECT_EQ(read_before_search, line(2, 2));
}

TEST_F(EventFilesTest, at_the_end_a_file_that_was_not_found_before_is_read) {
  EXPECT_EQ(kept(0), "");
  append(events(1001, 1, 2));
  finish(3);
  EXPECT_EQ(take_reports(ring_), line(1, 1) + line(2, 2));
}

TEST_F(EventFilesTest, what_the_job_has_open_is_found_while_the_folder_is_searched) {
  fill(600, "other");
  bool was_asked = false;
  std::string read_meanwhile;
  const auto look = [&] {
    if (std::exchange(was_asked, true)) return true;
    append(events(1001, 1, 1));
    const auto opened = open_file(folder_ / kFile, O_RDONLY);
    files_.find_open({::getpid()}, 1000 * kNsPerSecond);
    files_.read({1000 * kNsPerSecond, 2 * kNsPerSecond});
    read_meanwhile = take_reports(ring_);
    return true;
  };
  files_.find_in_folders(1000 * kNsPerSecond, look);
  EXPECT_EQ(read_meanwhile, line(1, 1));
}

TEST_F(EventFilesTest, a_search_that_is_given_up_is_as_if_it_had_not_been) {
  append(events(999.5, 1, 1));
  size_t asked = 0;
  fill(600, "other");
  files_.find_in_folders(1000 * kNsPerSecond, [&] { return ++asked < 2; });
  EXPECT_EQ(asked, 2U);
  EXPECT_FALSE(files_.has_some());
  // Otherwise this would be a file that came later.
  EXPECT_EQ(kept(1), "");
}

TEST_F(EventFilesTest, the_newest_folders_are_searched_first) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int i = 0; i < 20; ++i) {
    const auto run = folder_ / ("run" + std::to_string(i));
    std::filesystem::create_directory(run);
    std::ofstream(run / "events.out.tfevents.1") << "";
    // The seventh is the newest.
    std::filesystem::last_write_time(run, now - std::chrono::hours(i == 7 ? 1 : 2 + i));
  }
  EventFileSearch all, some;
  all.search_folder(folder_);
  EXPECT_TRUE(all.is_complete);
  EXPECT_EQ(all.found.size(), 20U);
  // The 21 folders themselves (train is one, and empty), and one file.
  std::filesystem::last_write_time(folder_ / "train", now - std::chrono::hours(100));
  some.search_folder(folder_, 22);
  EXPECT_FALSE(some.is_complete);
  ASSERT_EQ(some.found.size(), 1U);
  EXPECT_NE(some.found[0].path.find("run7/"), std::string::npos) << some.found[0].path;
}

}  // namespace event_files_test
}  // namespace trainscope
