#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace cgroup_collector {
extern const Collector entry;
}

namespace cgroup_test {

const std::string kPod = "/sys/fs/cgroup/kubepods.slice/kubepods-pod1f.slice";

TEST(Cgroup, reads_where_the_tightest_limit_is) {
  OpenedSource source(cgroup_collector::entry, machine_root("container-v2"));
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("cgroup.cpu.limit"), 2.5);
  EXPECT_EQ(source.value("cgroup.cpu.throttled_time"), 7.182736);  // the pod's, not our own
  EXPECT_EQ(source.value("cgroup.memory.usage"), 8182736896);
}

TEST(Cgroup, follows_a_limit_that_changes) {
  TestRoot root("container-v2");
  OpenedSource source(cgroup_collector::entry, root.path());
  root.write(kPod + "/cpu.max", "200000 100000\n");
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("cgroup.cpu.limit"), 2);
  root.write(kPod + "/cpu.max", "max 100000\n");  // the container's own 4 are the smallest now
  ASSERT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("cgroup.cpu.limit"), 4);
  EXPECT_EQ(source.value("cgroup.cpu.throttled_time"), 0);
  root.write(kPod + "/cri-containerd-9c.scope/cpu.max", "max 100000\n");
  ASSERT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  EXPECT_EQ(source.missing("cgroup.cpu.limit"), "no CPU limit is set on this cgroup");
}

TEST(Cgroup, is_the_jobs_once_there_is_one) {
  TestRoot root("container-v2");
  root.write("/proc/4711/cgroup", "0::/kubepods.slice\n");
  JobLink job;
  job.first_pid = 4711;
  SourceContext context;
  context.job = &job;
  OpenedSource source(cgroup_collector::entry, root.path(), context);
  source.sample();
  EXPECT_EQ(source.missing("cgroup.cpu.limit"), "no CPU limit is set on this cgroup");
  EXPECT_EQ(source.value("cgroup.memory.limit"), 60129542144);
}

TEST(Cgroup, is_absent_when_its_files_are_torn) {
  TestRoot root("container-v1");
  OpenedSource source(cgroup_collector::entry, root.path());
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 4812\nnr_thro");
  root.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "");
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("cgroup.cpu.limit"), 1.5);
  EXPECT_FALSE(source.value("cgroup.cpu.throttled_time"));
  EXPECT_FALSE(source.value("cgroup.memory.usage"));
  EXPECT_EQ(source.value("cgroup.memory.oom_kills"), 2);  // not oom_kill_disable
}

TEST(Cgroup, says_why_it_is_missing) {
  OpenedSource none(cgroup_collector::entry, machine_root("jetson"));
  EXPECT_EQ(none.missing("cgroup.memory.usage"), "the cgroup of this process is not mounted here");
  OpenedSource top(cgroup_collector::entry, machine_root("epyc-256"));
  EXPECT_EQ(top.missing("cgroup.memory.usage"), "the cgroup / has no memory.current");
}

}  // namespace cgroup_test

}  // namespace trainscope
