#include "cli/top_threads.h"

#include <gtest/gtest.h>

#include "testing/fake_run.h"

namespace trainscope {

namespace top_threads_test {

// Twenty seconds; a role does something else in the second half.
class TopThreadsTest : public testing::Test {
 protected:
  void add(const std::string& metric, const Labels& labels, double each, double later) {
    std::vector<double> times, values;
    for (int t = 0; t <= 20; ++t) {
      times.push_back(t);
      values.push_back(t <= 10 ? each * t : each * 10 + later * (t - 10));
    }
    run_.add(metric, labels, Kind::counter, times, values);
    run_.last_series().unit = "s";
    run_.last_series().period_s = 1;
  }
  void add_role(const std::string& role, double running, double later) {
    add("job.thread.time", {{"role", role}, {"state", "running"}}, running, later);
    add("job.thread.time", {{"role", role}, {"state", "runnable"}}, 0.1, 0.1);
    add("job.thread.time", {{"role", role}, {"state", "blocked"}}, 0.9 - running, 0.9 - later);
  }
  TopThreads threads(double begin_s, size_t windows, const std::string& filter = "") {
    ViewRequest request{begin_s, false, 1, windows, Component::overview, filter, Panel::threads};
    const auto read = read_top_threads(run_, request, windows_of(request, 20));
    EXPECT_TRUE(read);
    return *read;
  }
  static std::string roles(const TopThreads& threads) {
    std::string text;
    for (const ThreadRow& row : threads.rows) text += row.running.label + ";";
    return text;
  }

  FakeRun run_{1, 20};
};

TEST_F(TopThreadsTest, shares_are_those_of_the_shown_time) {
  add_role("main", 0.3, 0.7);
  add("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.2, 0);
  const TopThreads first = threads(0, 10), last = threads(11, 9);
  ASSERT_EQ(roles(first), "main;");
  EXPECT_EQ(first.rows[0].running.value, "30%");
  EXPECT_EQ(first.rows[0].runnable, "10%");
  EXPECT_EQ(first.rows[0].blocked, "60%");
  EXPECT_EQ(first.rows[0].disk, "20%");
  EXPECT_NEAR(first.rows[0].running.values.at(5).value_or(0), 0.3, 1e-9);
  ASSERT_EQ(roles(last), "main;");
  EXPECT_EQ(last.rows[0].running.value, "70%");
  EXPECT_EQ(last.rows[0].blocked, "20%");
}

TEST_F(TopThreadsTest, roles_are_in_order_and_can_be_filtered) {
  for (const char* role : {"worker10", "worker2", "pin", "main", "busiest"}) {
    add_role(role, 0.5, 0.5);
  }
  EXPECT_EQ(roles(threads(0, 10)), "main;busiest;pin;worker2;worker10;");
  EXPECT_EQ(threads(0, 10).rows[0].disk, "");
  EXPECT_EQ(roles(threads(0, 10, "Work 2")), "worker2;");
  EXPECT_EQ(threads(0, 10, "zzz").reason, "no thread matches 'zzz'; escape removes the filter");
}

TEST_F(TopThreadsTest, a_role_that_nobody_had_has_no_shares) {
  add("job.thread.time", {{"role", "pin"}, {"state", "running"}}, 0, 0);
  ASSERT_EQ(roles(threads(0, 10)), "pin;");
  EXPECT_EQ(threads(0, 10).rows[0].running.value, "");
  EXPECT_EQ(threads(0, 10).rows[0].blocked, "");
}

TEST_F(TopThreadsTest, a_run_without_them_says_so) {
  EXPECT_NE(threads(0, 10).reason.find("nothing was recorded of the job's threads"),
            std::string::npos);
}

}  // namespace top_threads_test

}  // namespace trainscope
