#include <gtest/gtest.h>

#include "base/fd.h"
#include "format/format.h"
#include "model/model.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace write_run_test {

// Rows 0, 1, 2, … with a value that hardly compresses.
class ManyRows : public RowSource {
 public:
  explicit ManyRows(int64_t count) : count_(count) {}
  Result<bool> next(RowTime& time, std::span<int64_t> values) override {
    if (tick_ == count_) return false;
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    values[0] = static_cast<int64_t>(random_ >> 2U);
    time = {tick_++, 0};
    return true;
  }

 private:
  const int64_t count_;
  int64_t tick_ = 0;
  uint64_t random_ = 1;
};

RunData rows(int64_t count) {
  RunData run;
  run.manifest.period_ns = 100'000'000;
  run.manifest.imported_format = "test";
  run.columns = {{"a", {}, "1", Kind::gauge, {}}};
  run.events = {{0.5, "mark", "x"}};
  run.rows = std::make_unique<ManyRows>(count);
  return run;
}

std::string values_of(const std::string& folder) {
  const auto run = open_run(folder);
  EXPECT_TRUE(run) << (run ? "" : run.error().message());
  if (!run) return "";
  EXPECT_TRUE((*run)->sampling().gaps.empty());
  EXPECT_EQ((*run)->events().size(), 1U);
  const auto points = (*run)->points(0, {});
  std::string text;
  for (const double value : points->value) text += std::to_string(value) + " ";
  return text;
}

// A reader refuses a segment of more than 8 GiB: a long run is several of them.
TEST(write_run, a_full_segment_is_followed_by_the_next) {
  const TemporaryFolder folder;
  constexpr int64_t kRows = 20'000;
  const std::string one = folder.path() + "/one", many = folder.path() + "/many";
  ASSERT_TRUE(write_run_folder(one, "0123456789", rows(kRows)));
  const auto written = write_run_folder(many, "0123456789", rows(kRows), 20'000);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->rows, kRows);
  EXPECT_TRUE(exists(many + "/samples-0003.seg"));
  EXPECT_FALSE(exists(one + "/samples-0002.seg"));
  EXPECT_EQ(values_of(many), values_of(one));
}

}  // namespace write_run_test
}  // namespace trainscope
