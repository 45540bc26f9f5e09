#include <gtest/gtest.h>

#include <string>

#include "record/host/test_environment.h"
#include "record/record.h"

namespace trainscope {
namespace environment_test {

class Environment : public ::testing::Test {
 protected:
  Environment() {
    for (const char* name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
          "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "MV2_COMM_WORLD_RANK"}) {
      set(name, nullptr);
    }
  }
  void set(const std::string& name, const char* value) { environment_.set(name, value); }

 private:
  TestEnvironment environment_;
};

TEST_F(Environment, keeps_the_listed_and_hides_secrets) {
  set("CUDA_VISIBLE_DEVICES", "0,1");
  set("TF_API_TOKEN", "abc");
  set("NCCL_PROXY", "http://me:word@proxy:1");
  set("GITHUB_TOKEN", "abc");
  set("SLURM_JWT", "abc");
  set("PRIVATE_THING", "abc");
  const auto kept = selected_environment();
  EXPECT_EQ(kept.at("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(kept.at("TF_API_TOKEN"), "***");
  EXPECT_EQ(kept.at("SLURM_JWT"), "***");
  EXPECT_EQ(kept.at("NCCL_PROXY"), "http://me:***@proxy:1");
  EXPECT_FALSE(kept.contains("GITHUB_TOKEN"));
  EXPECT_FALSE(kept.contains("PRIVATE_THING"));
}

TEST_F(Environment, no_launcher_is_one_rank) {
  const Rank rank = rank_from_environment();
  EXPECT_EQ(rank.rank, 0);
  EXPECT_EQ(rank.world_size, 1);
  EXPECT_EQ(rank.from, "");
}

TEST_F(Environment, rank_of_slurm) {
  set("SLURM_PROCID", "5");
  set("SLURM_NTASKS", "8");
  set("SLURM_LOCALID", "1");
  const Rank rank = rank_from_environment();
  EXPECT_EQ(rank.rank, 5);
  EXPECT_EQ(rank.world_size, 8);
  EXPECT_EQ(rank.local_rank, 1);
  EXPECT_EQ(rank.from, "SLURM_PROCID");
}

TEST_F(Environment, torchrun_within_slurm_is_the_inner_one) {
  set("SLURM_PROCID", "1");
  set("SLURM_NTASKS", "2");
  set("RANK", "6");
  set("WORLD_SIZE", "16");
  set("LOCAL_RANK", "6");
  EXPECT_EQ(rank_from_environment().rank, 6);
  EXPECT_EQ(rank_from_environment().from, "RANK");
}

TEST_F(Environment, rank_of_open_mpi) {
  set("OMPI_COMM_WORLD_RANK", "3");
  set("OMPI_COMM_WORLD_SIZE", "4");
  set("OMPI_COMM_WORLD_LOCAL_RANK", "3");
  EXPECT_EQ(rank_from_environment().local_rank, 3);
  EXPECT_EQ(rank_from_environment().from, "OMPI_COMM_WORLD_RANK");
}

TEST_F(Environment, rank_of_another_process_is_not_ours) {
  set("RANK", "3");
  set("WORLD_SIZE", "4");
  EXPECT_EQ(rank_from_environment().rank, 3);
  EXPECT_EQ(rank_from_environment(Variables()).from, "");
}

TEST_F(Environment, words_that_are_no_rank_are_ignored) {
  set("RANK", "3");  // without WORLD_SIZE: a variable of another program
  EXPECT_EQ(rank_from_environment().from, "");
  set("WORLD_SIZE", "4");
  set("RANK", "general");
  EXPECT_EQ(rank_from_environment().from, "");
}

}  // namespace environment_test
}  // namespace trainscope
