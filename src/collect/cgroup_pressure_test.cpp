#include <gtest/gtest.h>
#include <unistd.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace cgroup_pressure_collector {
extern const Collector entry;
}

namespace cgroup_pressure_test {

const std::string kSomeCpu = "cgroup.pressure.time{kind=some;resource=cpu}";
const std::string kMetric = "cgroup.pressure.time";

TEST(CgroupPressure, is_that_of_the_jobs_own_cgroup) {
  TestRoot root("container-v2");
  root.write("/proc/4711/cgroup", "0::/kubepods.slice\n");
  root.write("/sys/fs/cgroup/kubepods.slice/cpu.pressure", "some avg10=0.00 total=7000000\n");
  OpenedSource own(cgroup_pressure_collector::entry, root.path());
  own.sample();
  EXPECT_EQ(own.value(kSomeCpu), 3.100411);
  EXPECT_EQ(own.value("cgroup.pressure.time{kind=full;resource=io}"), 0.511019);
  JobLink job;
  job.first_pid = 4711;
  SourceContext context;
  context.job = &job;
  OpenedSource source(cgroup_pressure_collector::entry, root.path(), context);
  source.sample();
  EXPECT_EQ(source.value(kSomeCpu), 7);
  EXPECT_FALSE(source.has("cgroup.pressure.time{kind=some;resource=io}"));
}

TEST(CgroupPressure, is_found_next_to_controllers_of_version_1) {
  TestRoot root("vm");
  root.write("/proc/self/cgroup", "4:memory:/api/7f\n1:cpu:/\n0::/api\n");
  root.write("/sys/fs/cgroup/unified/api/memory.pressure", "some total=12\nfull total=5\n");
  OpenedSource source(cgroup_pressure_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("cgroup.pressure.time{kind=full;resource=memory}"), 0.000005);
}

TEST(CgroupPressure, has_a_reason_where_it_is_missing) {
  EXPECT_EQ(OpenedSource(cgroup_pressure_collector::entry, machine_root("server")).missing(kMetric),
            "no cgroup of version 2 is mounted here, and version 1 does not measure pressure | "
            "boot with systemd.unified_cgroup_hierarchy=1");
  EXPECT_EQ(
      OpenedSource(cgroup_pressure_collector::entry, machine_root("epyc-256")).missing(kMetric),
      "the job is in the root cgroup: its pressure is the machine's");
  EXPECT_EQ(OpenedSource(cgroup_pressure_collector::entry, machine_root("laptop")).missing(kMetric),
            "the pressure files of the cgroup /user.slice/user-1000.slice/session-3.scope do not "
            "exist: the kernel does not measure pressure | boot with psi=1");
}

TEST(CgroupPressure, a_reason_names_what_is_wrong_with_the_files) {
  TestRoot root("laptop");
  const std::string cgroup = "/user.slice/user-1000.slice/session-3.scope";
  const auto missing = [&] {
    return OpenedSource(cgroup_pressure_collector::entry, root.path()).missing(kMetric);
  };
  root.write("/sys/fs/cgroup" + cgroup + "/cgroup.pressure", "0\n");
  EXPECT_EQ(missing(), "the pressure files of the cgroup " + cgroup +
                           " are switched off | echo 1 > " + root.path() + "/sys/fs/cgroup" +
                           cgroup + "/cgroup.pressure");
  // Neither root nor anybody else can follow a link to itself.
  for (const char* resource : {"cpu", "memory", "io"}) {
    const std::string path = root.path() + "/sys/fs/cgroup" + cgroup + "/" + resource + ".pressure";
    ASSERT_EQ(::symlink(path.c_str(), path.c_str()), 0);
  }
  EXPECT_EQ(missing(),
            "the pressure files of the cgroup " + cgroup + ": Too many levels of symbolic links");
}

TEST(CgroupPressure, of_a_container_is_in_the_root_of_its_namespace) {
  TestRoot root("epyc-256");
  root.write("/sys/fs/cgroup/cgroup.events", "populated 1\nfrozen 0\n");
  root.write("/sys/fs/cgroup/cpu.pressure", "some avg10=0.00 total=2500000\n");
  OpenedSource source(cgroup_pressure_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value(kSomeCpu), 2.5);
}

}  // namespace cgroup_pressure_test

}  // namespace trainscope
