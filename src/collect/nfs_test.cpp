#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace nfs_collector {
extern const Collector entry;
}

namespace nfs_test {

constexpr const char* kTable = "/proc/self/mountstats";

TEST(Nfs, reads_every_mount_and_operation) {
  OpenedSource source(nfs_collector::entry, machine_root("nfs-client"));
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("nfs.io{direction=read;mountpoint=/data}"), 146821914624 + 1048576);
  EXPECT_EQ(source.value("nfs.server.io{direction=read;mountpoint=/data}"), 140821914624);
  EXPECT_EQ(source.value("nfs.operations{mountpoint=/data;operation=READ}"), 140203);
  EXPECT_EQ(source.value("nfs.operation.rtt{mountpoint=/data;operation=READ}"), 812.033);
  EXPECT_EQ(source.value("nfs.operation.time{mountpoint=/data;operation=READ}"), 831.203);
  EXPECT_EQ(source.value("nfs.retransmissions{mountpoint=/data;operation=READ}"), 2);
  EXPECT_EQ(source.value("nfs.timeouts{mountpoint=/data;operation=READ}"), 2);
  EXPECT_EQ(source.value("nfs.operations{mountpoint=/home;operation=READDIRPLUS}"), 12);
  EXPECT_FALSE(source.has("nfs.operations{mountpoint=/home;operation=OPEN}"));
}

TEST(Nfs, notices_mounts_that_come_and_go) {
  TestRoot root("nfs-client");
  OpenedSource source(nfs_collector::entry, root.path());
  const std::string text = root.text(kTable);
  root.write(kTable, text +
                         "device f:/x mounted on /x with fstype nfs4 statvers=1.1\n\tbytes:\t1 2 "
                         "3 4 5 6 7 8\n");
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("nfs.io{direction=write;mountpoint=/x}"), 6);
  root.write(kTable, text);
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  EXPECT_EQ(source.sample(), Sampled::ok);
}

TEST(Nfs, is_missing_where_nothing_is_mounted) {
  TestRoot root;
  root.write(kTable, "device /dev/sda2 mounted on / with fstype ext4\n");
  OpenedSource source(nfs_collector::entry, root.path());
  EXPECT_EQ(source.missing("nfs.io"), "no NFS file system is mounted here");
}

}  // namespace nfs_test

}  // namespace trainscope
