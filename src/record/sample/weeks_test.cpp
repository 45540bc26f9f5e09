// Weeks of samples, written as fast as possible: the memory of the writer and of a reader must not
// grow with them. TRAINSCOPE_LONG=1: thirty days at 10 Hz, otherwise one.
#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "base/fd.h"
#include "format/format.h"
#include "model/model.h"
#include "record/sample/journal.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace weeks_test {

constexpr int64_t kTicksADay = 864'000, kPeriodNs = 100'000'000;
constexpr int kColumns = 8;
constexpr const char* kId = "0123456789";

std::string schema_json() {
  std::string columns;
  for (int c = 0; c < kColumns; ++c) {
    columns += (c == 0 ? "" : ",") +
               (R"({"metric":"m)" + std::to_string(c) +
                R"(","labels":{},"unit":"1","kind":"counter","scale":[1,1],"type":"i64"})");
  }
  return R"({"schema":1000,"stream":0,"period_ns":100000000,"source":"test","missing":[],"columns":[)" +
         columns + "]}";
}

// Bytes that this process has allocated and not freed.
size_t bytes_in_use() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

size_t open_files() { return list_folder("/proc/self/fd")->size(); }

class Weeks : public testing::Test {
 protected:
  Weeks() : memory_(*SharedMemory::create(2 << 20)), ring_(memory_) {
    memory_->incarnation = 1;
    manifest_.id = kId;
    manifest_.period_ns = kPeriodNs;
    EXPECT_TRUE(write_manifest(folder_, manifest_));
    EXPECT_TRUE(ring_.push_schema(0, 1000, kColumns, 0, 1, schema_json()));
  }

  void record_day(Journal& journal) {
    std::vector<int64_t> row(kColumns);
    for (int64_t i = 0; i < kTicksADay; ++i, ++tick_) {
      for (int c = 0; c < kColumns; ++c) values_[c] += static_cast<int64_t>(random_() % 1000);
      for (int c = 0; c < kColumns; ++c) row[c] = values_[c];
      ASSERT_TRUE(ring_.push_row(0, tick_, 5, row));
      if (tick_ % 500 == 499) {
        ASSERT_TRUE(journal.flush());
      }
    }
  }

  void end(Journal& journal) {
    ASSERT_TRUE(journal.close());
    manifest_.duration_s = static_cast<double>(tick_) * 0.1 - 0.05;
    manifest_.ended_by = EndedBy::exit;
    ASSERT_TRUE(write_manifest(folder_, manifest_));
  }

  SharedMemory memory_;
  Ring ring_;
  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  Manifest manifest_;
  int64_t tick_ = 0;
  int64_t values_[kColumns] = {};
  std::mt19937 random_{1};
};

// Bytes allocated to open a run and to read its last hour.
size_t bytes_to_read_the_end(const std::string& folder, double end_s) {
  const size_t before = bytes_in_use();
  const auto run = open_run(folder);
  EXPECT_TRUE(run);
  Range range;
  range.begin_s = end_s - 3600;
  const auto points = (*run)->points(0, range);
  EXPECT_TRUE(points);
  EXPECT_GE(points->time_s.size(), 35'990U);
  EXPECT_LE(points->time_s.size(), 36'010U);
  return bytes_in_use() - before;
}

TEST_F(Weeks, nothing_grows_with_the_length_of_a_run) {
  const char* lengthy = ::getenv("TRAINSCOPE_LONG");
  const int days = lengthy != nullptr && std::string_view(lengthy) == "1" ? 30 : 2;
  Journal journal(ring_, memory_, folder_, manifest_);
  // An hour's worth brings every buffer to its size.
  for (; tick_ < 36'000; ++tick_) {
    ASSERT_TRUE(ring_.push_row(0, tick_, 5, std::vector<int64_t>(kColumns, 0)));
    if (tick_ % 500 == 499) {
      ASSERT_TRUE(journal.flush());
    }
  }
  const size_t bytes_before = bytes_in_use(), files_before = open_files();
  for (int day = 0; day < days; ++day) record_day(journal);
  // A day is 20 MB, and comes faster than any disk takes it.
  EXPECT_LE(bytes_in_use(), bytes_before + 4 * kMaxUnsyncedBytes);
  EXPECT_LE(open_files(), files_before);
  end(journal);
  EXPECT_LE(open_files(), files_before);

  const auto run = open_run(folder_);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ((*run)->sampling().samples, tick_);
  EXPECT_EQ((*run)->sampling().missed, 0);
  const auto summary = (*run)->summary(0);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->delta, static_cast<double>(values_[0]));
  EXPECT_LE(open_files(), files_before + 1);  // a view of a large run keeps one file open
  // The blocks of an hour, and where the others are.
  EXPECT_LE(bytes_to_read_the_end(folder_, *manifest_.duration_s), size_t{16} << 20);
}

}  // namespace weeks_test
}  // namespace trainscope
