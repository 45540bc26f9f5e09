#include "record/sample/journal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "format/format.h"
#include "model/model.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace journal_test {

constexpr const char* kSchema =
    R"({"schema":SCHEMA,"stream":0,"period_ns":10000000,"source":"test","missing":[],)"
    R"("columns":[{"metric":"a","labels":{},"unit":"1","kind":"counter","scale":[1,1],"type":"i64"}]})";

class JournalTest : public testing::Test {
 protected:
  JournalTest() : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) {
    memory_->incarnation = 1;
    memory_->zero_ns = memory_->zero_realtime_ns = 1;
    manifest_.id = "0123456789";
    manifest_.period_ns = 10'000'000;
    EXPECT_TRUE(write_manifest(folder_, manifest_));
  }

  static void announce(uint32_t schema, Ring& ring) {
    std::string json = kSchema;
    json.replace(json.find("SCHEMA"), 6, std::to_string(schema));
    ASSERT_TRUE(ring.push_schema(0, schema, 1, 0, 1, json));
  }
  void announce(uint32_t schema) { announce(schema, ring_); }
  static void push(int64_t from, int64_t to, Ring& ring) {
    for (int64_t tick = from; tick < to; ++tick) {
      ASSERT_TRUE(ring.push_row(0, tick, 5, std::vector<int64_t>{tick * 3}));
    }
  }
  void push(int64_t from, int64_t to) { push(from, to, ring_); }
  // The ticks that a reader of the folder finds, each with the value that was pushed.
  std::vector<int64_t> ticks_on_disk() {
    std::vector<int64_t> ticks;
    const auto run = open_run(folder_);
    EXPECT_TRUE(run) << (run ? "" : run.error().message());
    if (!run) return ticks;
    const auto points = (*run)->points(0, {});
    EXPECT_TRUE(points);
    for (size_t i = 0; i < points->time_s.size(); ++i) {
      const auto tick = static_cast<int64_t>(points->time_s[i] * 100);
      EXPECT_EQ(points->value[i], static_cast<double>(tick * 3));
      ticks.push_back(tick);
    }
    return ticks;
  }
  static std::vector<int64_t> range(int64_t from, int64_t to) {
    std::vector<int64_t> ticks;
    for (int64_t tick = from; tick < to; ++tick) ticks.push_back(tick);
    return ticks;
  }

  SharedMemory memory_;
  Ring ring_;
  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  Manifest manifest_;
};

TEST_F(JournalTest, unsealed_rows_are_in_the_tail) {
  Journal journal(ring_, memory_, folder_, manifest_);
  announce(1000);
  push(0, 30);
  ASSERT_TRUE(journal.flush());
  push(30, 45);
  ASSERT_TRUE(journal.flush());
  EXPECT_EQ(ticks_on_disk(), range(0, 45));
  EXPECT_GT(ring_.head(), ring_.tail());  // not released: not sealed
}

TEST_F(JournalTest, a_full_block_is_sealed_and_released) {
  Journal journal(ring_, memory_, folder_, manifest_);
  announce(1000);
  push(0, 1200);
  ASSERT_TRUE(journal.flush());
  EXPECT_EQ(ring_.head(), ring_.tail());
  push(1200, 1210);
  ASSERT_TRUE(journal.flush());
  EXPECT_EQ(ticks_on_disk(), range(0, 1210));
  ASSERT_TRUE(journal.close());
  ASSERT_TRUE(settle_run(folder_, true));
  EXPECT_FALSE(exists(folder_ + "/tail"));
  EXPECT_EQ(ticks_on_disk(), range(0, 1210));
}

TEST_F(JournalTest, damaged_memory_is_reported) {
  Journal journal(ring_, memory_, folder_, manifest_);
  announce(1000);
  push(0, 30);
  ASSERT_TRUE(journal.flush());
  const uint64_t damaged = ring_.head();
  push(30, 45);
  std::memset(memory_.ring_space() + damaged, 0, 8);
  ASSERT_TRUE(journal.flush());
  push(45, 50);
  ASSERT_TRUE(journal.close());
  auto expected = range(0, 30);
  for (const int64_t tick : range(45, 50)) expected.push_back(tick);
  EXPECT_EQ(ticks_on_disk(), expected);
  const auto run = open_run(folder_);
  ASSERT_TRUE(run);
  const auto& events = (*run)->events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "storage");
}

// Records that a killed recorder had in the ring are written by the next one, once.
TEST_F(JournalTest, the_next_recorder_drains_the_ring) {
  {
    Journal journal(ring_, memory_, folder_, manifest_);
    announce(1000);
    push(0, 50);
    ASSERT_TRUE(journal.flush());
    push(50, 80);  // never flushed
  }
  memory_->incarnation = 2;
  Journal journal(ring_, memory_, folder_, manifest_);
  announce(2000);
  push(90, 100);
  ASSERT_TRUE(journal.close());
  auto expected = range(0, 80);
  for (const int64_t tick : range(90, 100)) expected.push_back(tick);
  EXPECT_EQ(ticks_on_disk(), expected);
}

TEST_F(JournalTest, a_folder_that_was_removed_is_made_again_and_nothing_in_the_ring_is_lost) {
  Journal journal(ring_, memory_, folder_, manifest_);
  announce(1000);
  push(0, 20);
  ASSERT_TRUE(journal.flush());
  std::filesystem::remove_all(folder_);
  push(20, 40);
  EXPECT_FALSE(journal.flush());
  push(40, 60);
  ASSERT_TRUE(journal.close());
  ASSERT_TRUE(write_manifest(folder_, manifest_));
  EXPECT_EQ(ticks_on_disk(), range(0, 60));
}

// A run in which devices come and go: the numbers of layouts are one sequence for all recorders.
TEST_F(JournalTest, more_than_a_thousand_layouts_and_a_restart) {
  std::vector<int64_t> expected;
  for (int recorder = 0; recorder < 2; ++recorder) {
    Journal journal(ring_, memory_, folder_, manifest_);
    memory_->incarnation = recorder + 1;
    for (int64_t i = 0; i < 1100; ++i) {
      const int64_t tick = recorder * 1100 + i;
      announce(memory_->next_schema++);
      push(tick, tick + 1);
      expected.push_back(tick);
      const bool flushed = i % 100 != 99 || journal.flush();
      ASSERT_TRUE(flushed);
    }
    ASSERT_TRUE(journal.close());
  }
  EXPECT_EQ(memory_->next_schema, 2201U);
  EXPECT_EQ(ticks_on_disk(), expected);
}

TEST_F(JournalTest, a_run_without_its_manifest_is_rebuilt_from_the_segments) {
  manifest_.name = "resnet";
  manifest_.command = {"python", "train.py"};
  Journal journal(ring_, memory_, folder_, manifest_);
  announce(1000);
  push(0, 30);
  ASSERT_TRUE(journal.flush());
  for (const char* damage : {"", "{", "null", "{}", "noise"}) {
    std::ofstream(folder_ + "/manifest.json") << damage;
    EXPECT_EQ(ticks_on_disk(), range(0, 30)) << damage;
    const auto run = open_run(folder_);
    ASSERT_TRUE(run);
    const Manifest& m = (*run)->manifest();
    EXPECT_EQ(m.id, "0123456789");
    EXPECT_EQ(m.name, "resnet");
    EXPECT_EQ(m.command, manifest_.command);
    EXPECT_EQ(m.period_ns, 10'000'000);
    ASSERT_EQ(m.notes.size(), 1U);
    EXPECT_NE(m.notes[0].find("manifest.json"), std::string::npos) << m.notes[0];
  }
  std::filesystem::remove(folder_ + "/manifest.json");
  EXPECT_EQ(ticks_on_disk(), range(0, 30));
  std::ofstream(folder_ + "/manifest.json") << R"({"schema":"trainscope.manifest/2","id":"x"})";
  const auto newer = open_run(folder_);
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message().find("newer"), std::string::npos) << newer.error().message();
}

// Only the samples are left, from a recorder that stored no manifest in them.
TEST_F(JournalTest, a_run_of_an_earlier_recorder_without_its_manifest) {
  memory_->zero_realtime_ns = 0;
  Journal journal(ring_, memory_, folder_, manifest_);
  announce(1000);
  push(0, 30);
  ASSERT_TRUE(journal.flush());
  std::filesystem::remove(folder_ + "/manifest.json");
  EXPECT_EQ(ticks_on_disk(), range(0, 30));
  const auto run = open_run(folder_);
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->manifest().id, "0123456789");
  EXPECT_EQ((*run)->manifest().period_ns, 10'000'000);
  EXPECT_EQ((*run)->manifest().started.substr(0, 2), "20");
}

// Not meant to be, and yet neither loses a sealed row to the other, whose tail replaces its own.
TEST_F(JournalTest, two_writers_of_one_folder_overwrite_nothing) {
  SharedMemory others_memory = *SharedMemory::create(1 << 20);
  Ring others_ring(others_memory);
  others_memory->incarnation = 2;
  others_memory->zero_ns = others_memory->zero_realtime_ns = 1;
  {
    Journal journal(ring_, memory_, folder_, manifest_);
    Journal other(others_ring, others_memory, folder_, manifest_);
    announce(1000);
    announce(1000, others_ring);
    // Tails and sealed blocks of both, by turns. A reader takes no row that is older than one
    // before.
    for (int64_t tick = 0; tick < 2500; tick += 250) {
      push(tick, tick + 250);
      ASSERT_TRUE(journal.flush());
      push(5000 + tick, 5000 + tick + 250, others_ring);
      ASSERT_TRUE(other.flush());
    }
    ASSERT_TRUE(journal.close());
    ASSERT_TRUE(other.close());
  }
  others_memory.unmap();
  std::vector<int64_t> expected = range(0, 2500);
  for (const int64_t tick : range(5000, 7500)) expected.push_back(tick);
  EXPECT_EQ(ticks_on_disk(), expected);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/tail.new"));
}

}  // namespace journal_test
}  // namespace trainscope
