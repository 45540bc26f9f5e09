#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace beegfs_collector {
extern const Collector entry;
}

namespace beegfs_test {

constexpr const char* kNodes = "/proc/fs/beegfs/1A2-65F0-node7/storage_nodes";

TEST(Beegfs, counts_connections_by_transport) {
  TestRoot root;
  root.write(kNodes,
             "storage01 [ID: 1]\n   Connections: RDMA: 4 (10.0.0.1:8003); \n"
             "storage02 [ID: 2]\n   Connections: TCP: 1 (10.0.0.2:8003); \n"
             "storage03 [ID: 3]\n   Connections: <none>\n");
  OpenedSource source(beegfs_collector::entry, root.path());
  EXPECT_EQ(source.sample(), Sampled::ok);
  const auto value = [&](const std::string& node, const std::string& transport) {
    return source.value("beegfs.connections{client=1A2-65F0-node7;node=" + node +
                        ";role=storage;transport=" + transport + "}");
  };
  EXPECT_EQ(value("storage01", "RDMA"), 4);
  EXPECT_EQ(value("storage01", "TCP"), 0);
  EXPECT_EQ(value("storage02", "TCP"), 1);
  EXPECT_EQ(value("storage03", "RDMA"), 0);
  root.write(kNodes, root.text(kNodes) + "storage04 [ID: 4]\n   Connections: <none>\n");
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
}

}  // namespace beegfs_test

}  // namespace trainscope
