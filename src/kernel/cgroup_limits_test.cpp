#include "kernel/cgroup_limits.h"

#include <gtest/gtest.h>

#include "testing/test_root.h"

namespace trainscope {

namespace cgroup_limits_test {

TEST(CgroupLimits, of_a_container_on_v1) {
  const CgroupLimits limits = read_cgroup_limits(machine_root("container-v1"), 0);
  EXPECT_EQ(limits.version, "v1");
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 4294967296);
  EXPECT_EQ(limits.path, "/docker/3f1c9e0b7a52");
}

TEST(CgroupLimits, of_a_container_on_v2_are_the_tightest_on_the_way_up) {
  const CgroupLimits limits = read_cgroup_limits(machine_root("container-v2"), 0);
  EXPECT_EQ(limits.version, "v2");
  EXPECT_EQ(limits.cpus, 2.5);
  EXPECT_EQ(limits.memory_bytes, 17179869184);
}

TEST(CgroupLimits, are_absent_where_none_are_set) {
  for (const char* machine : {"vm", "laptop", "epyc-256"}) {
    const CgroupLimits limits = read_cgroup_limits(machine_root(machine), 0);
    EXPECT_FALSE(limits.cpus) << machine;
    EXPECT_FALSE(limits.memory_bytes) << machine;
  }
  EXPECT_EQ(read_cgroup_limits(machine_root("vm"), 0).path, "/api/7f");
  EXPECT_EQ(read_cgroup_limits(machine_root("jetson"), 0).version, "none");
  EXPECT_EQ(read_cgroup_limits("/no/such/root", 0).version, "none");
}

TEST(CgroupLimits, of_another_process) {
  TestRoot root("container-v2");
  root.write("/proc/77/cgroup", "0::/kubepods.slice\n");
  const CgroupLimits limits = read_cgroup_limits(root.path(), 77);
  EXPECT_EQ(limits.path, "/kubepods.slice");
  EXPECT_FALSE(limits.cpus);
  EXPECT_EQ(limits.memory_bytes, 60129542144);
}

TEST(CgroupLimits, of_two_versions_at_once) {
  TestRoot root("vm");
  root.write("/proc/self/cgroup", "4:memory:/api/7f\n0::/job\n");
  root.write("/sys/fs/cgroup/unified/job/cpu.max", "50000 100000\n");
  const CgroupLimits limits = read_cgroup_limits(root.path(), 0);
  EXPECT_EQ(limits.version, "hybrid");
  EXPECT_EQ(limits.cpus, 0.5);
}

TEST(CgroupLimits, parse_what_the_kernel_writes) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1500);
  EXPECT_EQ(parse_cpu_max("1 1000000\n"), 1);  // next to nothing, but a limit
  EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("150000 0\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("150000"), std::nullopt);
  EXPECT_EQ(milli_cpus(-1, 100000), std::nullopt);
  EXPECT_EQ(parse_memory_limit("max\n"), std::nullopt);
  EXPECT_EQ(parse_memory_limit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(parse_memory_limit("9223372036854710272\n"), std::nullopt);  // pages of 64 KiB
  EXPECT_EQ(parse_memory_limit("0\n"), 0);
}

std::vector<std::string> folders(const char* cgroup, const char* mountinfo) {
  const auto place = place_cgroup(cgroup, parse_mountinfo(mountinfo), "cpu");
  return place ? place->folders : std::vector<std::string>();
}

TEST(CgroupPlace, follows_the_path_up_to_the_mount_point) {
  const char* mounts = "1 2 0:3 / /cg rw - cgroup2 cgroup2 rw\n";
  using Folders = std::vector<std::string>;
  EXPECT_EQ(folders("0::/a/b\n", mounts), (Folders{"/cg/a/b", "/cg/a", "/cg"}));
  EXPECT_EQ(folders("0::/\n", mounts), (Folders{"/cg"}));
  // A namespace that we are not in.
  EXPECT_EQ(folders("0::/../../x\n", mounts), (Folders{"/cg"}));
  EXPECT_EQ(folders("3:memory:/x\n", mounts), (Folders{}));
  EXPECT_EQ(folders("", mounts), (Folders{}));
}

TEST(CgroupPlace, takes_the_hosts_path_off_in_a_container) {
  const char* mounts = "1 2 0:3 /docker/7 /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
  using Folders = std::vector<std::string>;
  EXPECT_EQ(folders("4:cpu,cpuacct:/docker/7\n", mounts), (Folders{"/cg/cpu"}));
  EXPECT_EQ(folders("4:cpu,cpuacct:/docker/7/s\n", mounts), (Folders{"/cg/cpu/s", "/cg/cpu"}));
  EXPECT_EQ(folders("4:cpu,cpuacct:/docker/77\n", mounts), (Folders{"/cg/cpu"}));
  EXPECT_EQ(folders("4:cpuset:/docker/7\n", mounts), (Folders{}));
}

}  // namespace cgroup_limits_test

}  // namespace trainscope
