#include "store/home/groups.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "format/format.h"
#include "store/read/run_id.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace groups_test {

constexpr int64_t kMinuteNs = 60 * kNsPerSecond, kDayNs = 24 * 60 * kMinuteNs;
constexpr int64_t kBeginNs = 1'770'000'000 * kNsPerSecond;

class Home {
 public:
  RunListing& add(int64_t after_ns) {
    RunListing& run = runs.emplace_back();
    run.manifest.id = make_run_id(kBeginNs + after_ns, static_cast<uint32_t>(runs.size()));
    run.path = "home/" + std::to_string(runs.size() - 1);
    return run;
  }
  void add_rank(const std::string& job, int64_t rank, int64_t world_size, int64_t after_ns = 0,
                int64_t restart = 0) {
    Manifest& m = add(after_ns).manifest;
    m.job = job;
    m.rank = m.local_rank = rank;
    m.world_size = world_size;
    m.restart = restart;
  }
  void add_repeat(const std::string& group, int64_t index, int64_t count) {
    add(0).manifest.repeat = {group, index, count};
  }
  // "slurm-1.0: 0 1; …", the numbers are places in the home.
  std::string text() const {
    std::string out;
    for (const RunGroup& group : group_runs(runs)) {
      out += (out.empty() ? "" : "; ") + group.id + ":";
      for (const std::string& path : group.paths) out += " " + path.substr(5);
    }
    return out;
  }

  std::vector<RunListing> runs;
};

TEST(groups, ranks_of_a_job_are_in_order_of_rank) {
  Home home;
  home.add_rank("slurm-1.0", 2, 3);
  home.add(0);  // no group
  home.add_rank("slurm-1.0", 0, 3);
  home.add_rank("slurm-2.0", 0, 2);
  home.add_rank("slurm-1.0", 1, 3);
  EXPECT_EQ(home.text(), "slurm-1.0: 2 4 0; slurm-2.0: 3");
  const auto groups = group_runs(home.runs);
  EXPECT_EQ(groups[0].kind, GroupKind::ranks);
  EXPECT_EQ(groups[0].size, 3);
}

TEST(groups, repeats_are_in_their_order) {
  Home home;
  for (const int64_t index : {1, 2, 3}) home.add_repeat("repeat-a", index, 5);
  EXPECT_EQ(home.text(), "repeat-a: 0 1 2");
  EXPECT_EQ(group_runs(home.runs)[0].kind, GroupKind::repeats);
  EXPECT_EQ(group_runs(home.runs)[0].size, 5);
}

// A script of a rank may record several commands; ranks do not wait for each other.
TEST(groups, the_second_run_of_each_rank_is_another_group) {
  Home home;
  home.add_rank("x", 0, 2, 0);
  home.add_rank("x", 0, 2, 1 * kMinuteNs);
  home.add_rank("x", 1, 2, 2 * kMinuteNs);
  home.add_rank("x", 1, 2, 3 * kMinuteNs);
  EXPECT_EQ(home.text(), "x~1: 0 2; x: 1 3");
}

TEST(groups, a_restart_is_another_group) {
  Home home;
  home.add_rank("x", 0, 2, 0, 0);
  home.add_rank("x", 1, 2, 1, 0);
  home.add_rank("x", 1, 3, 2, 1);  // with more ranks, the new one first
  home.add_rank("x", 2, 3, 3, 1);
  home.add_rank("x", 0, 3, 4, 1);
  EXPECT_EQ(home.text(), "x~1: 0 1; x: 4 2 3");
}

// Rank 1 was not recorded the first time: a day later that does not matter.
TEST(groups, an_id_that_is_used_again_after_a_day_is_another_job) {
  Home home;
  home.add_rank("x", 0, 2, 0);
  home.add_rank("x", 0, 2, 2 * kDayNs);
  home.add_rank("x", 1, 2, 2 * kDayNs + kMinuteNs);
  EXPECT_EQ(home.text(), "x~1: 0; x: 1 2");
}

TEST(groups, a_repeated_rank_is_in_both_kinds_of_groups) {
  Home home;
  home.add_rank("x", 0, 2);
  home.runs.back().manifest.repeat = {"repeat-a", 1, 2};
  home.add_rank("x", 0, 2);
  home.runs.back().manifest.repeat = {"repeat-a", 2, 2};
  EXPECT_EQ(home.text(), "x~1: 0; repeat-a: 0 1; x: 1");
}

TEST(groups, runs_of_earlier_versions_have_none) {
  Home home;
  home.add(0).manifest.world_size = 4;
  home.add(0).manifest.imported_format = "tegrastats";
  EXPECT_EQ(home.text(), "");
}

std::string found(const Home& home, const std::string& text) {
  const auto group = find_group(group_runs(home.runs), text);
  if (!group) return "error: " + group.error().message();
  return *group ? (*group)->id : "nothing";
}

TEST(groups, an_argument_is_an_id_or_a_unique_prefix) {
  Home home;
  home.add_rank("slurm-47.1", 0, 2);
  home.add_rank("slurm-47.10", 0, 2);
  home.add_rank("slurm-47.1", 0, 2, kMinuteNs);
  EXPECT_EQ(found(home, "slurm-47.1"), "slurm-47.1");
  EXPECT_EQ(found(home, "slurm-47.1~1"), "slurm-47.1~1");
  EXPECT_EQ(found(home, "slurm-47.10"), "slurm-47.10");
  EXPECT_EQ(found(home, "slurm-47.1~2"), "nothing");
  EXPECT_EQ(found(home, "slurm-47"),
            "error: 'slurm-47' matches 2 groups, including slurm-47.1 and slurm-47.10; use a "
            "longer prefix");
  EXPECT_EQ(found(home, "torchrun"), "nothing");
  home.add_rank("torchrun-x81", 0, 2);
  EXPECT_EQ(found(home, "torchrun"), "torchrun-x81");
}

// A home with two ranks on one machine and one on another.
class GroupOnDisk : public ::testing::Test {
 protected:
  std::string add(int64_t rank, int64_t local_rank, const std::string& boot_id) {
    Manifest m;
    m.rank = rank;
    m.local_rank = local_rank;
    m.world_size = 3;
    m.records_machine = local_rank == 0;
    m.job = "slurm-1.0";
    m.boot_id = boot_id;
    const auto run = create_run(folder_.path());
    EXPECT_TRUE(run);
    m.id = run->id;
    EXPECT_TRUE(write_manifest(run->path, m));
    return run->path;
  }
  std::string machine_run(const std::string& path) {
    const auto manifest = read_manifest(path);
    const auto found = find_machine_run(path, *manifest);
    return found ? found->manifest.id : "";
  }

  TemporaryFolder folder_;
};

TEST_F(GroupOnDisk, a_group_is_a_run_argument) {
  const std::string first = add(0, 0, "a"), second = add(1, 1, "a");
  const auto target = find_target(folder_.path(), "slurm-1");
  ASSERT_TRUE(target) << target.error().message();
  ASSERT_TRUE(target->group);
  EXPECT_EQ(target->paths, (std::vector<std::string>{first, second}));
  EXPECT_EQ(*find_runs(folder_.path(), "slurm-1.0"), target->paths);
  const auto one = find_run(folder_.path(), "slurm-1.0");
  ASSERT_FALSE(one);
  EXPECT_NE(one.error().message().find("is a group of 2 runs"), std::string::npos);
  EXPECT_FALSE(find_target(folder_.path(), "latest")->group);
}

TEST_F(GroupOnDisk, a_rank_without_machine_metrics_names_the_run_of_its_machine) {
  const std::string other = add(0, 0, "b"), first = add(1, 0, "a"), second = add(2, 1, "a");
  const std::string id = first.substr(first.rfind('/') + 1);
  EXPECT_EQ(machine_run(second), id);
  EXPECT_EQ(machine_run(first), id);
  const auto working_directory = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  EXPECT_EQ(machine_run(second.substr(second.rfind('/') + 1)), id);
  std::filesystem::current_path(working_directory);
  ASSERT_TRUE(remove_run(first));
  EXPECT_EQ(machine_run(second), "");
}

}  // namespace groups_test
}  // namespace trainscope
