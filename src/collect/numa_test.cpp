#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace numa_collector {
extern const Collector entry;
}

namespace numa_test {

TEST(Numa, counts_pages_by_node) {
  OpenedSource source(numa_collector::entry, machine_root("ib-node"));
  source.sample();
  EXPECT_EQ(source.value("system.numa.allocations{node=0;type=hit}"), 8000000);
  EXPECT_EQ(source.value("system.numa.allocations{node=1;type=miss}"), 12000);
  EXPECT_EQ(source.value("system.numa.allocations{node=1;type=other}"), 100001);
}

TEST(Numa, a_line_that_is_gone_is_absent) {
  const TestRoot root("ib-node");
  OpenedSource source(numa_collector::entry, root.path());
  root.write("/sys/devices/system/node/node0/numastat", "numa_hit 7\nnuma_miss\n");
  source.sample();
  EXPECT_EQ(source.value("system.numa.allocations{node=0;type=hit}"), 7);
  EXPECT_FALSE(source.value("system.numa.allocations{node=0;type=miss}"));
  EXPECT_FALSE(source.value("system.numa.allocations{node=0;type=local}"));
}

TEST(Numa, is_missing_where_the_kernel_knows_no_nodes) {
  OpenedSource source(numa_collector::entry, machine_root("vm"));
  EXPECT_EQ(source.missing("system.numa.allocations"),
            "the kernel shows no memory nodes in /sys/devices/system/node");
}

}  // namespace numa_test
}  // namespace trainscope
