#include "store/read/reports.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace trainscope {
namespace reports_test {

// A file of frames of reports, as a segment or the tail holds them.
class ReportsFile {
 public:
  // Lines "TIME_NS SOURCE REPORT"; the first has this number.
  void add(int64_t first, const std::vector<std::string>& lines, bool is_compressed = true) {
    std::string text = fmt::format("{}\n", first);
    for (const std::string& line : lines) text += line + "\n";
    const std::string payload = is_compressed ? compress(text, 3) : text;
    const uint8_t flags = is_compressed ? kFrameZstd : 0;
    places_.push_back({&file_, file_.bytes.size(), static_cast<uint32_t>(payload.size()), flags});
    append_frame(file_.bytes, FrameType::step, flags, payload);
  }

  std::shared_ptr<const StoredReports> open() const {
    auto reports = StoredReports::open(places_);
    EXPECT_TRUE(reports);
    return *reports;
  }

 private:
  RunFile file_{"samples-0001.seg", ""};
  std::vector<FramePlace> places_;
};

// "TIME_NS REPORT" each.
std::vector<std::string> read(const StoredReports& reports) {
  std::vector<std::string> all;
  const auto reader = reports.read();
  for (StoredReport stored;;) {
    const auto has_more = reader->next(stored);
    EXPECT_TRUE(has_more);
    if (!has_more || !*has_more) return all;
    all.push_back(fmt::format("{:.0f} {}", stored.time_s * 1e9, format_report(stored.report)));
  }
}

std::string line(int64_t time_ns, int64_t step) {
  return fmt::format("{} pipe step {}", time_ns, step);
}

TEST(stored_reports, come_by_time_however_they_were_written) {
  ReportsFile file;
  file.add(0, {line(10, 1), line(30, 3), line(20, 2)});
  file.add(3, {line(25, 7), line(40, 4)}, false);
  file.add(5, {line(5, 8), line(25, 9), line(40, 10)});
  const std::vector<std::string> expected = {"5 step 8",  "10 step 1", "20 step 2", "25 step 7",
                                             "25 step 9", "30 step 3", "40 step 4", "40 step 10"};
  const auto reports = file.open();
  EXPECT_EQ(read(*reports), expected);
  EXPECT_EQ(read(*reports), expected) << "they can be read again";
}

TEST(stored_reports, are_in_the_order_of_a_stable_sort) {
  std::mt19937 random(7);
  std::vector<std::pair<int64_t, int64_t>> all;  // time and number
  ReportsFile file;
  for (int frame = 0; frame < 40; ++frame) {
    std::vector<std::string> lines;
    const auto first = static_cast<int64_t>(all.size());
    for (auto i = random() % 30; i > 0; --i) {
      const auto time_ns =
          static_cast<int64_t>(frame * 20 + random() % (frame % 7 == 0 ? 300 : 40));
      lines.push_back(line(time_ns, static_cast<int64_t>(all.size())));
      all.emplace_back(time_ns, static_cast<int64_t>(all.size()));
    }
    file.add(first, lines);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> expected;
  for (const auto& [time_ns, number] : all) {
    expected.push_back(fmt::format("{} step {}", time_ns, number));
  }
  EXPECT_EQ(read(*file.open()), expected);
}

TEST(stored_reports, what_is_in_the_tail_too_is_given_once) {
  ReportsFile file;
  file.add(0, {line(1, 1), line(2, 2), line(3, 3)});
  file.add(1, {line(2, 2), line(3, 3), line(4, 4)});
  file.add(2, {line(3, 3)});
  EXPECT_EQ(read(*file.open()),
            (std::vector<std::string>{"1 step 1", "2 step 2", "3 step 3", "4 step 4"}));
}

TEST(stored_reports, lines_that_are_no_reports_are_counted) {
  ReportsFile file;
  file.add(0, {"soon pipe step 1", line(2, 2), "3 pipe walk 3"});
  file.add(3, {"never"});
  const auto reports = file.open();
  EXPECT_EQ(read(*reports), std::vector<std::string>{"2 step 2"});
  EXPECT_EQ(reports->unreadable(), 3);
}

// A few bytes may not become many: not in one frame, nor in many that are open together.
TEST(stored_reports, a_frame_may_not_decompress_to_any_size) {
  const std::string text = "0\n1 pipe step 1 " + std::string(size_t{8} << 20, 'x') + "\n";
  const std::string payload = compress(text, 3);
  ASSERT_LT(payload.size(), 4000U);
  std::string buffer;
  EXPECT_FALSE(report_lines(payload, kFrameZstd, buffer));
  const std::string credible = "0\n" + std::string(size_t{60} << 10, 'x');
  EXPECT_TRUE(report_lines(compress(credible, 3), kFrameZstd, buffer));
}

TEST(stored_reports, frames_that_are_open_together_have_a_limit) {
  ReportsFile overlapping, in_order;
  for (int64_t i = 0; i < 20; ++i) {
    overlapping.add(2 * i, {line(i, i), line(1'000'000, i)});
    in_order.add(2 * i, {line(10 * i, i), line(10 * i + 5, i)});
  }
  constexpr size_t kLimit = 500;  // bytes; a frame has about 40
  const auto first_error = [](const StoredReports& reports) -> std::string {
    const auto reader = reports.read_within(kLimit);
    for (StoredReport stored;;) {
      const auto has_more = reader->next(stored);
      if (!has_more) return has_more.error().message();
      if (!*has_more) return "";
    }
  };
  EXPECT_EQ(first_error(*in_order.open()), "");
  EXPECT_EQ(first_error(*overlapping.open()), "frames of more than 500 bytes overlap in time");
  EXPECT_EQ(read(*overlapping.open()).size(), 40U);
}

TEST(stored_reports, a_line_that_nobody_can_have_sent_is_unreadable) {
  std::string numbers;
  while (numbers.size() < 8000) numbers += " a=1";
  ReportsFile file;
  file.add(0, {line(1, 1) + numbers, line(2, 2) + numbers + numbers, line(3, 3)}, false);
  const auto reports = file.open();
  EXPECT_EQ(read(*reports).size(), 2U);
  EXPECT_EQ(reports->unreadable(), 1);
}

TEST(stored_reports, an_impossible_number_is_damage) {
  EXPECT_TRUE(count_reports("9007199254740992\n1 pipe step 1\n"));
  EXPECT_FALSE(count_reports("9007199254740993\n1 pipe step 1\n"));
  EXPECT_FALSE(count_reports("-1\n1 pipe step 1\n"));
}

TEST(stored_reports, a_run_without_reports_has_none) {
  EXPECT_TRUE(read(*ReportsFile().open()).empty());
}

}  // namespace reports_test
}  // namespace trainscope
