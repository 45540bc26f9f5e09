#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace disk_collector {
extern const Collector entry;
}

namespace disk_test {

TEST(Disk, counts_on_when_the_kernels_milliseconds_wrap) {
  TestRoot root;
  root.write("/sys/block/sda/size", "1000\n");
  root.write("/sys/block/sda/stat", "1 0 8 4294967290 1 0 8 5 0 5 4294967295\n");
  OpenedSource source(disk_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("system.disk.queue_time{device=sda}"), 4294967.295);
  root.write("/sys/block/sda/stat", "2 0 16 10 1 0 8 5 0 5 4\n");
  source.sample();
  EXPECT_EQ(source.value("system.disk.queue_time{device=sda}"), 4294967.300);
  EXPECT_EQ(source.value("system.disk.operation_time{device=sda;direction=read}"), 4294967.306);
  EXPECT_EQ(source.value("system.disk.io{device=sda;direction=read}"), 16 * 512);
}

TEST(Disk, is_absent_while_torn_and_looked_for_again) {
  TestRoot root("vm");
  OpenedSource source(disk_collector::entry, root.path());
  root.write("/sys/block/vda/stat", "63059 8958 27");
  ASSERT_EQ(source.sample(), Sampled::ok);
  for (const int64_t value : source.values()) EXPECT_EQ(value, kAbsent);
  EXPECT_EQ(source.sample(99), Sampled::layout_changed);
}

TEST(Disk, finds_a_new_device_within_a_hundred_samples) {
  TestRoot root("vm");
  OpenedSource source(disk_collector::entry, root.path());
  EXPECT_EQ(source.sample(200), Sampled::ok);
  root.write("/sys/block/vdb/size", "1000\n");
  root.write("/sys/block/vdb/stat", "1 0 8 4 1 0 8 5 0 5 9\n");
  EXPECT_EQ(source.sample(99), Sampled::ok);
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  EXPECT_EQ(source.sample(100), Sampled::ok);
  EXPECT_EQ(source.value("system.disk.io_time{device=vdb}"), 0.005);
  root.remove("/sys/block/vdb");
  EXPECT_EQ(source.sample(100), Sampled::layout_changed);
  source.open();
  EXPECT_FALSE(source.has("system.disk.io_time{device=vdb}"));
}

TEST(Disk, leaves_out_what_is_no_disk) {
  OpenedSource source(disk_collector::entry, machine_root("laptop"));
  EXPECT_TRUE(source.has("system.disk.io_time{device=dm-0}"));
  EXPECT_FALSE(source.has("system.disk.io_time{device=loop0}"));
  EXPECT_FALSE(source.has("system.disk.io_time{device=zram0}"));
}

TEST(Disk, says_why_it_is_missing) {
  TestRoot root;
  OpenedSource source(disk_collector::entry, root.path());
  EXPECT_EQ(source.missing("system.disk.io"),
            "/sys/block does not exist | sudo mount -t sysfs sysfs /sys");
  root.write("/sys/block/loop0/size", "8\n");
  source.open();
  EXPECT_EQ(source.missing("system.disk.queue_time"), "this machine shows no block device");
}

}  // namespace disk_test

}  // namespace trainscope
