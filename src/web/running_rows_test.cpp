#include "web/running_rows.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace trainscope {
namespace running_rows_test {

TEST(WebRunningRows, are_read_once_for_all_who_ask_at_the_same_time) {
  RunningRows rows;
  constexpr int kPages = 4;
  std::atomic<int> asking = 0, reads = 0;
  const auto read = [&] {
    while (asking < kPages) std::this_thread::yield();  // a row is kept for a second only
    return "row " + std::to_string(++reads);
  };
  std::vector<std::thread> pages;
  for (int i = 0; i < kPages; ++i) {
    pages.emplace_back([&] {
      ++asking;
      EXPECT_EQ(rows.row("a", read), "row 1");
    });
  }
  for (std::thread& page : pages) page.join();
  EXPECT_EQ(rows.row("b", read), "row 2") << "another run";
}

TEST(WebRunningRows, that_took_long_are_not_read_again_for_nineteen_times_as_long) {
  RunningRows rows;
  int reads = 0;
  const auto row = [&](const std::string& id, int64_t cpu_ns) {
    return rows.row(id, [&] {
      const int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < cpu_ns) {
      }
      return "row " + std::to_string(++reads);
    });
  };
  constexpr int64_t kMillisecond = 1'000'000;
  EXPECT_EQ(row("long", 500 * kMillisecond), "row 1");  // 9.5 s of rest
  EXPECT_EQ(row("short", 0), "row 2");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(row("long", 0), "row 1");
  EXPECT_EQ(row("short", 0), "row 3");
}

TEST(WebRunningRows, a_row_that_could_not_be_read_or_is_forgotten_is_read_again) {
  RunningRows rows;
  EXPECT_EQ(rows.row("a", [] { return std::string(); }), "");
  EXPECT_EQ(rows.row("a", [] { return std::string("first"); }), "first");
  rows.forget("a");
  EXPECT_EQ(rows.row("a", [] { return std::string("second"); }), "second");
}

TEST(WebRunningRows, are_limited_in_number) {
  RunningRows rows;
  for (size_t i = 0; i < 2 * RunningRows::kMostRows; ++i) {
    EXPECT_EQ(rows.row(std::to_string(i), [] { return std::string("row"); }), "row");
  }
  EXPECT_EQ(rows.row("0", [] { return std::string("again"); }), "again");
}

}  // namespace running_rows_test
}  // namespace trainscope
