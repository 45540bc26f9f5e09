#include "cli/run_filter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace trainscope {
namespace run_filter_test {

constexpr int64_t kNow = 1'794'742'200 * kNsPerSecond;

RunListing run(const std::string& id, const std::string& name, int64_t age_s) {
  RunListing listing;
  listing.manifest.id = id;
  listing.manifest.name = name;
  listing.manifest.started = utc_text(kNow - age_s * kNsPerSecond);
  listing.manifest.command = {"python", "Train.py"};
  listing.manifest.ended_by = EndedBy::exit;
  listing.manifest.exit_code = 0;
  return listing;
}

// Oldest first, as list_runs gives them.
std::vector<RunListing> some_runs() {
  std::vector<RunListing> runs = {run("a", "base", 7200), run("b", "base 2", 600), run("c", "", 60),
                                  run("d", "other", 5)};
  runs[0].manifest.tags = {{"lr", "0.1"}, {"host", "x"}};
  runs[1].manifest.tags = {{"lr", "0.2"}};
  runs[1].manifest.exit_code = 3;
  runs[2].manifest.command = {"sleep", "1"};
  runs[2].status = RunStatus::damaged;
  runs[2].manifest.started = "";
  runs[3].status = RunStatus::running;
  runs[3].manifest.exit_code.reset();
  return runs;
}

std::string shown(const RunFilterTexts& texts) {
  const auto filter = parse_run_filter(texts);
  if (!filter) return "error: " + filter.error().message();
  std::string ids;
  for (const RunListing& one : filter_runs(some_runs(), *filter, kNow)) ids += one.manifest.id;
  return ids;
}

TEST(RunFilter, shows_all_runs_unless_something_is_given) { EXPECT_EQ(shown({}), "abcd"); }

// It is a name or a pattern, not a RUN argument.
TEST(RunFilter, a_name_does_not_count_back) {
  EXPECT_EQ(shown({.name = "base"}), "a");
  EXPECT_EQ(shown({.name = "base~1"}), "");
  EXPECT_EQ(shown({.name = "base*"}), "ab");
  EXPECT_EQ(shown({.name = "*"}), "abd");
}

TEST(RunFilter, the_newest_are_the_last) {
  EXPECT_EQ(shown({.count = "2"}), "cd");
  EXPECT_EQ(shown({.count = "9"}), "abcd");
  EXPECT_EQ(shown({.name = "base*", .count = "1"}), "b");
  EXPECT_EQ(shown({.count = "0"}).substr(0, 12), "error: -n: '");
  EXPECT_EQ(shown({.count = "some"}).substr(0, 12), "error: -n: '");
}

TEST(RunFilter, a_name_is_whole_or_has_wildcards) {
  EXPECT_EQ(shown({.name = "base"}), "a");
  EXPECT_EQ(shown({.name = "base*"}), "ab");
  EXPECT_EQ(shown({.name = "*"}), "abd");
}

TEST(RunFilter, tags_must_all_match) {
  EXPECT_EQ(shown({.tags = {"lr"}}), "ab");
  EXPECT_EQ(shown({.tags = {"lr=0.2"}}), "b");
  EXPECT_EQ(shown({.tags = {"lr=0.1", "host=x"}}), "a");
  EXPECT_EQ(shown({.tags = {"lr=0.2", "host=x"}}), "");
  EXPECT_EQ(shown({.tags = {"lr="}}), "");
}

TEST(RunFilter, a_part_of_the_command_is_enough) {
  EXPECT_EQ(shown({.command = "train"}), "abd");
  EXPECT_EQ(shown({.command = "python Tr"}), "abd");
  EXPECT_EQ(shown({.command = "sleep"}), "c");
}

TEST(RunFilter, failed_runs_ended_with_another_code_than_0) {
  EXPECT_EQ(shown({.status = "running"}), "d");
  EXPECT_EQ(shown({.status = "damaged"}), "c");
  EXPECT_EQ(shown({.status = "ended"}), "ab");
  EXPECT_EQ(shown({.status = "failed"}), "b");
}

TEST(RunFilter, a_job_that_a_time_limit_ended_did_not_fail) {
  const auto is_failed = [](EndedBy by, std::optional<int> code) {
    RunListing one = run("a", "", 1);
    one.manifest.ended_by = by;
    one.manifest.exit_code = code;
    return has_failed(one);
  };
  EXPECT_TRUE(is_failed(EndedBy::exit, 1));
  EXPECT_TRUE(is_failed(EndedBy::signal, std::nullopt));
  EXPECT_TRUE(is_failed(EndedBy::not_started, 127));
  EXPECT_FALSE(is_failed(EndedBy::exit, 0));
  EXPECT_FALSE(is_failed(EndedBy::time_limit, 143));
  EXPECT_FALSE(is_failed(EndedBy::time_limit, std::nullopt));
  EXPECT_FALSE(is_failed(EndedBy::detached, std::nullopt));
  EXPECT_FALSE(is_failed(EndedBy::unknown, std::nullopt));
}

TEST(RunFilter, a_run_without_a_start_has_no_age) {
  EXPECT_EQ(shown({.newer_than = "1h"}), "bd");
  EXPECT_EQ(shown({.older_than = "1h"}), "a");
  EXPECT_EQ(shown({.newer_than = "1h", .older_than = "1m"}), "b");
  EXPECT_EQ(shown({.newer_than = "soon"}).substr(0, 20), "error: --newer-than:");
}

}  // namespace run_filter_test
}  // namespace trainscope
