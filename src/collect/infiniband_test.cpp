#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace infiniband_collector {
extern const Collector entry;
}

namespace infiniband_test {

TEST(Infiniband, data_is_in_words_of_four_bytes) {
  OpenedSource source(infiniband_collector::entry, machine_root("ib-node"));
  source.sample();
  EXPECT_EQ(source.value("ib.io{device=mlx5_0;direction=receive;port=1}"), 262144000.0 * 4);
  EXPECT_EQ(source.value("ib.packets{device=mlx5_0;direction=transmit;port=1}"), 500100);
  EXPECT_EQ(source.value("ib.errors{device=mlx5_0;port=1;type=port_xmit_discards}"), 3);
  EXPECT_EQ(source.value("ib.transmit_wait{device=mlx5_0;port=1}"), 77);
  EXPECT_EQ(source.value("ib.link.rate{device=mlx5_0;port=1}"), 100e9);
}

TEST(Infiniband, tells_congestion_of_roce) {
  OpenedSource source(infiniband_collector::entry, machine_root("ib-node"));
  source.sample();
  EXPECT_EQ(source.value("ib.congestion{device=mlx5_bond_0;port=1;type=cnp_handled}"), 34);
  EXPECT_EQ(source.value("ib.congestion{device=mlx5_bond_0;port=1;type=ecn_marked}"), 56);
}

TEST(Infiniband, wide_counters_go_before_narrow_ones) {
  OpenedSource source(infiniband_collector::entry, machine_root("ib-node"));
  source.sample();
  EXPECT_EQ(source.value("ib.io{device=qib0;direction=receive;port=1}"), 5e9 * 4);
  EXPECT_EQ(source.value("ib.io{device=qib0;direction=transmit;port=1}"), 6e9 * 4);
}

TEST(Infiniband, bytes_of_efa_are_bytes) {
  OpenedSource source(infiniband_collector::entry, machine_root("ib-node"));
  source.sample();
  EXPECT_EQ(source.value("ib.io{device=rdmap0s6;direction=transmit;port=1}"), 123456789);
}

TEST(Infiniband, what_cannot_be_read_now_is_absent) {
  const TestRoot root("ib-node");
  OpenedSource source(infiniband_collector::entry, root.path());
  root.write("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "N/A\n");
  root.write("/sys/class/infiniband/mlx5_0/ports/1/rate", "\n");
  source.sample();
  EXPECT_FALSE(source.value("ib.io{device=mlx5_0;direction=receive;port=1}"));
  EXPECT_FALSE(source.value("ib.link.rate{device=mlx5_0;port=1}"));
  EXPECT_TRUE(source.value("ib.io{device=mlx5_0;direction=transmit;port=1}"));
}

TEST(Infiniband, is_missing_without_adapters) {
  OpenedSource source(infiniband_collector::entry, machine_root("vm"));
  EXPECT_EQ(source.missing("ib.io"), "no InfiniBand or RoCE adapter in /sys/class/infiniband");
}

}  // namespace infiniband_test
}  // namespace trainscope
