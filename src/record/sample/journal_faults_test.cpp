// Every call that changes the run folder fails in turn, alone or with those after it: no row and no
// value is missing once the run is closed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>

#include "format/format.h"
#include "model/model.h"
#include "record/sample/journal.h"
#include "record/sample/journal_writer.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace journal_faults_test {

constexpr int64_t kRows = 1300;  // the first block is sealed before the end

enum class Call { open, write, truncate, rename };

// Counts the calls, and lets those fail that the test chooses.
class FailingCalls : public StorageCalls {
 public:
  explicit FailingCalls(std::function<bool(int number, Call call)> fails)
      : fails_(std::move(fails)) {}

  Result<UniqueFd> open(const std::string& path, int flags) override {
    if (fails_(++count_, Call::open)) return Error::from_errno("open", EMFILE);
    return StorageCalls::open(path, flags);
  }
  // The first half is written all the same.
  Status write(int fd, std::string_view bytes) override {
    if (!fails_(++count_, Call::write)) return StorageCalls::write(fd, bytes);
    (void)StorageCalls::write(fd, bytes.substr(0, bytes.size() / 2));
    return Error::from_errno("write", ENOSPC);
  }
  Status truncate(int fd, size_t bytes) override {
    if (fails_(++count_, Call::truncate)) return Error::from_errno("truncate", EIO);
    return StorageCalls::truncate(fd, bytes);
  }
  Status rename(const std::string& from, const std::string& to) override {
    if (fails_(++count_, Call::rename)) return Error::from_errno("rename", EIO);
    return StorageCalls::rename(from, to);
  }
  int count() const { return count_; }

 private:
  std::function<bool(int, Call)> fails_;
  int count_ = 0;
};

std::string schema_text(uint32_t schema, uint32_t stream, const std::string& metric) {
  std::string text =
      R"({"schema":SCHEMA,"stream":STREAM,"period_ns":10000000,"source":"METRIC","missing":[],)"
      R"("columns":[{"metric":"METRIC","labels":{},"unit":"1","kind":"counter","scale":[1,1],)"
      R"("type":"i64"}]})";
  const auto put = [&](const std::string& name, const std::string& value) {
    for (size_t at; (at = text.find(name)) != std::string::npos;) {
      text.replace(at, name.size(), value);
    }
  };
  put("SCHEMA", std::to_string(schema));
  put("STREAM", std::to_string(stream));
  put("METRIC", metric);
  return text;
}

// A run of kRows rows: series a and b in stream 0, c in stream 1 with every tenth row. The layout
// of b changes in between.
class Recording {
 public:
  explicit Recording(std::shared_ptr<FailingCalls> calls)
      : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) {
    memory_->incarnation = 1;
    memory_->zero_ns = memory_->zero_realtime_ns = 1;
    manifest_.id = "0123456789";
    manifest_.period_ns = 10'000'000;
    EXPECT_TRUE(write_manifest(folder_.path(), manifest_));
    Journal journal(ring_, memory_, folder_.path(), manifest_, std::move(calls));
    EXPECT_TRUE(ring_.push_schema(0, 1, 1, 0, 2, schema_text(1, 0, "a")));
    EXPECT_TRUE(ring_.push_schema(0, 2, 1, 1, 2, schema_text(2, 0, "b")));
    EXPECT_TRUE(ring_.push_schema(1, 3, 1, 0, 1, schema_text(3, 1, "c")));
    for (int64_t tick = 0; tick < kRows; ++tick) {
      if (tick == 100) {
        EXPECT_TRUE(ring_.push_schema(0, 4, 1, 1, 2, schema_text(4, 0, "b")));
      }
      EXPECT_TRUE(ring_.push_row(0, tick, 5, std::vector<int64_t>{3 * tick, 7 * tick}));
      if (tick % 10 == 0) {
        EXPECT_TRUE(ring_.push_row(1, tick, 5, std::vector<int64_t>{tick}));
      }
      if (tick == 50 || tick == 99 || tick == 150 || tick == 1200) (void)journal.flush();
    }
    for (int attempt = 0; attempt < kClosingAttempts && !is_closed_; ++attempt) {
      is_closed_ = static_cast<bool>(journal.close());
    }
    if (is_closed_) {
      EXPECT_TRUE(settle_run(folder_.path(), true));
    }
  }

  bool is_closed() const { return is_closed_; }
  // "" when every value is there, and nothing is reported as lost.
  std::string missing() const {
    const auto opened = open_run(folder_.path());
    if (!opened) return opened.error().message();
    const RunView& run = **opened;
    for (size_t i = 0; i < 3; ++i) {
      const std::string& metric = run.recorded_series()[i].metric;
      if (metric != std::string(1, "abc"[i])) return "a series";
      const int64_t step = metric == "c" ? 10 : 1, factor = metric == "a" ? 3 : 7;
      const auto points = run.points(i, {});
      if (!points) return points.error().message();
      if (static_cast<int64_t>(points->value.size()) != kRows / step) return "rows of " + metric;
      for (size_t r = 0; r < points->value.size(); ++r) {
        const auto tick = static_cast<int64_t>(r) * step;
        const int64_t value = metric == "c" ? tick : factor * tick;
        if (points->present[r] == 0 || points->value[r] != static_cast<double>(value)) {
          return metric + " of tick " + std::to_string(tick);
        }
      }
    }
    for (const Gap& gap : run.sampling().gaps) return gap.reason;
    return "";
  }

 private:
  SharedMemory memory_;
  Ring ring_;
  TemporaryFolder folder_;
  Manifest manifest_;
  bool is_closed_ = false;
};

// Records once for each call, until all calls of a recording have been the first that fails.
void fail_in_turn(const std::function<bool(int number, Call call, int chosen)>& fails) {
  int tried = 0;
  for (int chosen = 1, count = 1; chosen <= count; ++chosen, ++tried) {
    const auto calls = std::make_shared<FailingCalls>(
        [&](int number, Call call) { return fails(number, call, chosen); });
    const Recording recording(calls);
    count = calls->count();
    EXPECT_TRUE(recording.is_closed()) << "call " << chosen;
    EXPECT_EQ(recording.missing(), "") << "call " << chosen;
  }
  EXPECT_GT(tried, 8);
}

TEST(JournalFaults, one_call_fails) {
  fail_in_turn([](int number, Call, int chosen) { return number == chosen; });
}

TEST(JournalFaults, a_write_fails_and_cannot_be_undone) {
  fail_in_turn(
      [](int number, Call, int chosen) { return number == chosen || number == chosen + 1; });
}

TEST(JournalFaults, ten_calls_fail) {
  fail_in_turn(
      [](int number, Call, int chosen) { return number >= chosen && number < chosen + 10; });
}

// Each kind of call by its own count: the even or the odd ones.
TEST(JournalFaults, every_second_call_of_each_kind_fails) {
  for (unsigned odd = 0; odd < 16; ++odd) {
    std::array<unsigned, 4> counts{};
    const auto calls = std::make_shared<FailingCalls>([&](int, Call call) {
      const auto kind = static_cast<size_t>(call);
      return (++counts[kind] + (odd >> kind)) % 2 == 0;
    });
    const Recording recording(calls);
    EXPECT_TRUE(recording.is_closed()) << odd;
    EXPECT_EQ(recording.missing(), "") << odd;
  }
}

// The disk fails for good: what was in a segment is still there, although a sync of it failed and
// it was to be written again.
TEST(JournalFaults, a_disk_that_fails_for_good_keeps_what_it_has) {
  const TemporaryFolder folder;
  bool is_broken = false;
  SegmentWriter writer(folder.path(),
                       std::make_shared<FailingCalls>([&](int, Call) { return is_broken; }));
  const auto no_frames = [](uint32_t) { return std::string(); };
  ASSERT_TRUE(writer.begin(1, no_frames));
  ASSERT_TRUE(writer.append("rows"));
  writer.abandon();
  EXPECT_FALSE(writer.is_open());
  is_broken = true;
  EXPECT_FALSE(writer.begin(2, no_frames));
  EXPECT_TRUE(read_file(folder.path() + "/samples-0001.seg")->ends_with("rows"));
  is_broken = false;
  ASSERT_TRUE(writer.begin(2, no_frames));
  ASSERT_TRUE(writer.append("rows"));
  writer.cut_abandoned();
  EXPECT_EQ(read_file(folder.path() + "/samples-0001.seg")->size(), 0U);
  EXPECT_TRUE(read_file(folder.path() + "/samples-0002.seg")->ends_with("rows"));
}

}  // namespace journal_faults_test
}  // namespace trainscope
