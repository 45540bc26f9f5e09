#include "cli/group_rows.h"

#include <gtest/gtest.h>

#include <string>

namespace trainscope {
namespace group_rows_test {

RunListing listing(const std::string& path, const std::string& name = "") {
  RunListing run;
  run.path = path;
  run.manifest.name = name;
  run.manifest.ended_by = EndedBy::exit;
  run.manifest.exit_code = 0;
  return run;
}

RunListing rank_listing(const std::string& path, int64_t rank, int64_t size) {
  RunListing run = listing(path, "x");
  run.manifest.rank = rank;
  run.manifest.world_size = size;
  return run;
}

// "0", "job(1 2) 2 ranks"
std::string text(const std::vector<ListRow>& rows) {
  std::string out;
  for (const ListRow& row : rows) {
    out += out.empty() ? "" : "; ";
    out += row.group.empty() ? "" : row.group + " ";
    for (const RunListing* run : row.runs) out += run->path;
    out += row.place.empty() ? "" : " " + row.place;
  }
  return out;
}

TEST(group_rows, a_group_is_where_its_newest_run_is) {
  const std::vector<RunListing> runs = {rank_listing("a", 1, 2), listing("b"),
                                        rank_listing("c", 0, 2), listing("d")};
  const std::vector<RunGroup> groups = {{"job", GroupKind::ranks, 2, {"c", "a"}}};
  EXPECT_EQ(text(list_rows(runs, groups, false)), "b; job ac 2 ranks; d");
  EXPECT_EQ(text(list_rows(runs, groups, true)), "a rank 1 of 2; b; c rank 0 of 2; d");
}

TEST(group_rows, runs_that_are_missing_are_counted) {
  const std::vector<RunListing> runs = {rank_listing("a", 0, 4), rank_listing("b", 1, 4)};
  const std::vector<RunGroup> groups = {{"job", GroupKind::ranks, 4, {"a", "b", "c"}}};
  EXPECT_EQ(text(list_rows(runs, groups, false)), "job ab 2 of 4 ranks");
  EXPECT_EQ(text(list_rows({runs[0]}, groups, false)), "a rank 0 of 4");
}

TEST(group_rows, ranks_take_precedence_over_repeats) {
  std::vector<RunListing> runs = {rank_listing("a", 0, 2), rank_listing("b", 0, 2)};
  runs[0].manifest.repeat = {"repeat-a", 1, 2};
  runs[1].manifest.repeat = {"repeat-a", 2, 2};
  const std::vector<RunGroup> groups = {{"job~1", GroupKind::ranks, 2, {"a"}},
                                        {"repeat-a", GroupKind::repeats, 2, {"a", "b"}},
                                        {"job", GroupKind::ranks, 2, {"b"}}};
  EXPECT_EQ(text(list_rows(runs, groups, false)), "a rank 0 of 2; b rank 0 of 2");
  for (RunListing& run : runs) run.manifest.world_size = 1;
  EXPECT_EQ(text(list_rows(runs, {groups[1]}, false)), "repeat-a ab 2 repeats");
  EXPECT_EQ(text(list_rows(runs, {groups[1]}, true)), "a repeat 1 of 2; b repeat 2 of 2");
}

TEST(group_rows, what_all_runs_have_is_shown) {
  RunListing a = listing("a", "x"), b = listing("b", "x");
  a.manifest.tags = {{"lr", "0.1"}, {"repeat", "1/2"}};
  b.manifest.tags = {{"lr", "0.1"}, {"repeat", "2/2"}, {"more", "1"}};
  EXPECT_EQ(common_name({&a, &b}), "x");
  EXPECT_EQ(common_tags({&a, &b}), (std::map<std::string, std::string>{{"lr", "0.1"}}));
  b.manifest.name = "y";
  EXPECT_EQ(common_name({&a, &b}), "");
}

TEST(group_rows, the_worst_outcome_is_shown) {
  const RunListing good = listing("good");
  RunListing failed = listing("failed"), running = listing("running"), damaged = listing("damaged");
  failed.manifest.exit_code = 3;
  running.status = RunStatus::running;
  damaged.status = RunStatus::damaged;
  EXPECT_EQ(worst_run({&good}).path, "good");
  EXPECT_EQ(worst_run({&good, &running}).path, "running");
  EXPECT_EQ(worst_run({&running, &failed, &good}).path, "failed");
  EXPECT_EQ(worst_run({&failed, &damaged, &running}).path, "damaged");
}

}  // namespace group_rows_test
}  // namespace trainscope
