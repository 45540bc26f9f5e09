#include "record/host/launcher_job.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "record/host/test_environment.h"

namespace trainscope {
namespace launcher_job_test {

const LauncherProcess kParent = {"boot", 100, 5000};

// Every variable that a launcher may set: this test may itself run under one.
const std::vector<std::string> kVariables = {"RANK",
                                             "WORLD_SIZE",
                                             "LOCAL_RANK",
                                             "MASTER_ADDR",
                                             "MASTER_PORT",
                                             "TORCHELASTIC_RUN_ID",
                                             "TORCHELASTIC_ERROR_FILE",
                                             "TORCHELASTIC_RESTART_COUNT",
                                             "SLURM_JOB_ID",
                                             "SLURM_STEP_ID",
                                             "SLURM_ARRAY_JOB_ID",
                                             "SLURM_ARRAY_TASK_ID",
                                             "SLURM_RESTART_COUNT",
                                             "SLURM_PROCID",
                                             "SLURM_NTASKS",
                                             "OMPI_COMM_WORLD_RANK",
                                             "OMPI_COMM_WORLD_SIZE",
                                             "OMPI_MCA_ess_base_jobid",
                                             "MV2_COMM_WORLD_RANK",
                                             "PMIX_NAMESPACE",
                                             "PMIX_RANK",
                                             "PMI_RANK",
                                             "PMI_SIZE",
                                             "PMI_JOBID"};

LauncherJob job_with(const std::map<std::string, std::string>& values,
                     const LauncherProcess& parent = kParent) {
  TestEnvironment environment;
  for (const std::string& name : kVariables) environment.set(name, nullptr);
  for (const auto& [name, value] : values) environment.set(name, value.c_str());
  const Variables variables = Variables::ours();
  return launcher_job(variables, rank_from_environment(variables), parent);
}

using Values = std::map<std::string, std::string>;

Values with(Values values, const Values& more) {
  for (const auto& [name, value] : more) values[name] = value;
  return values;
}

const Values kSlurm = {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "4711"}};
const Values kTorchrun = {
    {"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};

TEST(launcher_job, no_launcher_and_one_rank_have_no_job) {
  EXPECT_EQ(job_with({}).id, "");
  EXPECT_EQ(job_with({{"SLURM_JOB_ID", "4711"}}).id, "");
  EXPECT_EQ(job_with({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TORCHELASTIC_RUN_ID", "x"}}).id, "");
}

TEST(launcher_job, slurm_is_job_and_step) {
  EXPECT_EQ(job_with(with(kSlurm, {{"SLURM_STEP_ID", "2"}})).id, "slurm-4711.2");
  EXPECT_EQ(job_with(kSlurm).id, "slurm-4711");
  EXPECT_EQ(job_with(with(kSlurm, {{"SLURM_STEP_ID", "0"},
                                   {"SLURM_ARRAY_JOB_ID", "4700"},
                                   {"SLURM_ARRAY_TASK_ID", "3"}}))
                .id,
            "slurm-4700_3.0");
}

TEST(launcher_job, torchrun_is_its_run_id) {
  const LauncherJob job = job_with(
      with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "x81"}, {"TORCHELASTIC_RESTART_COUNT", "2"}}));
  EXPECT_EQ(job.id, "torchrun-x81");
  EXPECT_EQ(job.restart, 2);
}

// A default id is none: within a step of Slurm, that identifies the job on all hosts.
TEST(launcher_job, torchrun_without_an_id_within_slurm_is_the_step) {
  const Values none = with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "none"}});
  EXPECT_EQ(job_with(with(none, {{"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}})).id,
            "slurm-4711.0");
  // The batch script may start torchrun several times.
  EXPECT_TRUE(job_with(with(none, {{"SLURM_JOB_ID", "4711"}})).id.starts_with("ranks-"));
}

TEST(launcher_job, torchrun_without_an_id_is_its_folder) {
  const auto id = [](const std::string& file, const LauncherProcess& parent) {
    return job_with(with(kTorchrun,
                         {{"TORCHELASTIC_RUN_ID", "none"}, {"TORCHELASTIC_ERROR_FILE", file}}),
                    parent)
        .id;
  };
  const std::string first = id("/tmp/t_1/none_x/attempt_0/1/error.json", kParent);
  EXPECT_TRUE(first.starts_with("torchrun-")) << first;
  // Another rank, a restart, and a shell between torchrun and the rank.
  EXPECT_EQ(id("/tmp/t_1/none_x/attempt_1/3/error.json", {"boot", 101, 5001}), first);
  EXPECT_NE(id("/tmp/t_1/none_y/attempt_0/1/error.json", kParent), first);
}

TEST(launcher_job, ranks_without_an_id_share_their_parent) {
  const std::string first = job_with(kTorchrun).id;
  EXPECT_TRUE(first.starts_with("ranks-")) << first;
  EXPECT_EQ(job_with(with(kTorchrun, {{"RANK", "3"}})).id, first);
  EXPECT_NE(job_with(kTorchrun, {"boot", 100, 5001}).id, first);
  EXPECT_NE(job_with(kTorchrun, {"other", 100, 5000}).id, first);
  EXPECT_NE(job_with(with(kTorchrun, {{"MASTER_PORT", "29501"}})).id, first);
}

TEST(launcher_job, mpi_is_its_job_id) {
  const Values open = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  EXPECT_EQ(job_with(with(open, {{"OMPI_MCA_ess_base_jobid", "3112042497"}})).id,
            "openmpi-3112042497");
  EXPECT_EQ(job_with(with(open, {{"PMIX_NAMESPACE", "prterun-n1-99@1"}})).id,
            "openmpi-prterun-n1-99@1");
  const Values hydra = {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}};
  EXPECT_EQ(job_with(with(hydra, {{"PMI_JOBID", "kvs_99_0"}})).id, "mpi-kvs_99_0");
}

TEST(launcher_job, hostile_values_become_short_and_stay_different) {
  std::vector<std::string> seen;
  for (const std::string& value :
       {std::string(1 << 20, 'x'), std::string((1 << 20) + 1, 'x'), std::string("a\nb"),
        std::string("a\x1b[31mb"), std::string("ab\xff\xfe"), std::string("../../etc/passwd"),
        std::string("a*~1"), std::string(" ")}) {
    const std::string id = job_with(with(kTorchrun, {{"TORCHELASTIC_RUN_ID", value}})).id;
    EXPECT_TRUE(id.starts_with("torchrun-")) << id;
    EXPECT_LE(id.size(), kMaxJobBytes);
    EXPECT_EQ(id.find_first_of("\n\x1b\xff/*~ "), std::string::npos) << id;
    for (const std::string& other : seen) EXPECT_NE(id, other);
    seen.push_back(id);
  }
  for (const char* count : {"-1", "x", "99999999999999999999", ""}) {
    EXPECT_EQ(job_with(with(kTorchrun, {{"TORCHELASTIC_RESTART_COUNT", count}})).restart, 0);
  }
}

}  // namespace launcher_job_test
}  // namespace trainscope
