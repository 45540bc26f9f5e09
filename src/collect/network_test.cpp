#include <gtest/gtest.h>

#include "collect/support/devices/interfaces.h"
#include "collect/support/opened_source.h"

namespace trainscope {

namespace network_collector {
extern const Collector entry;
}
namespace network_errors_collector {
extern const Collector entry;
}

namespace network_test {

constexpr const char* kEth0Receive = "system.network.io{device=eth0;direction=receive}";

TEST(Network, is_absent_for_an_interface_that_vanished) {
  TestRoot root("vm");
  OpenedSource source(network_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value(kEth0Receive), 3057999803);
  root.write("/sys/class/net/eth0/statistics/rx_bytes", "");
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value(kEth0Receive), std::nullopt);
  EXPECT_EQ(source.sample(98), Sampled::layout_changed);
}

TEST(Network, notices_an_interface_that_comes_up) {
  TestRoot root("vm");
  OpenedSource source(network_collector::entry, root.path());
  OpenedSource errors(network_errors_collector::entry, root.path());
  EXPECT_FALSE(source.has("system.network.io{device=ifb0;direction=receive}"));
  root.write("/sys/class/net/ifb0/operstate", "up\n");
  EXPECT_EQ(source.sample(100), Sampled::layout_changed);
  EXPECT_EQ(errors.sample(10), Sampled::layout_changed);
  source.open();
  EXPECT_EQ(source.sample(100), Sampled::ok);
  EXPECT_EQ(source.value("system.network.io{device=ifb0;direction=receive}"), 0);
}

TEST(Network, reads_the_table_where_there_is_no_sysfs_or_there_are_many) {
  TestRoot root("vm");
  root.remove("/sys");
  OpenedSource bare(network_collector::entry, root.path());
  bare.sample();
  EXPECT_EQ(bare.value(kEth0Receive), 3057999803);
  EXPECT_TRUE(bare.has("system.network.io{device=ifb0;direction=receive}"));

  TestRoot server("server");
  OpenedSource source(network_collector::entry, server.path());
  EXPECT_EQ(source.sample(250), Sampled::ok);
  EXPECT_EQ(source.value("system.network.io{device=ib0;direction=transmit}"), 6618273645);
  std::string text = server.text("/proc/net/dev");
  const size_t begin = text.find("   ib0:");
  server.write("/proc/net/dev", text.erase(begin, text.find('\n', begin) + 1 - begin));
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("system.network.io{device=ib0;direction=transmit}"), std::nullopt);
  EXPECT_TRUE(source.value("system.network.io{device=eno1;direction=transmit}"));
}

TEST(Network, leaves_out_interfaces_of_another_namespace) {
  TestRoot root("vm");
  root.write("/proc/net/dev", "    lo: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n");
  OpenedSource source(network_collector::entry, root.path());
  EXPECT_EQ(source.opened().columns.size(), 2U);
  EXPECT_EQ(source.sample(100), Sampled::ok);
}

TEST(Network, says_why_it_is_missing) {
  TestRoot root;
  OpenedSource source(network_collector::entry, root.path());
  EXPECT_EQ(source.missing("system.network.io"), "no network interface is up");
  OpenedSource errors(network_errors_collector::entry, root.path());
  EXPECT_EQ(errors.missing("system.network.dropped"),
            "/proc/net/dev does not exist | sudo mount -t proc proc /proc");
}

TEST(NetDev, passes_over_what_it_does_not_understand) {
  Scanner scan(
      "Inter-| Receive | Transmit\n face |bytes packets|bytes\n: 1 2 3 4\n  eth0: 1 2 3\n"
      "eth0:1: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n");
  NetDevLine line;
  ASSERT_TRUE(next_net_dev_line(scan, line));
  EXPECT_EQ(line.name, "eth0:1");
  EXPECT_EQ(line.transmit[NetDevLine::dropped], 8);
  EXPECT_FALSE(next_net_dev_line(scan, line));
}

}  // namespace network_test

}  // namespace trainscope
