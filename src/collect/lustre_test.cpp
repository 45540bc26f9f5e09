#include <gtest/gtest.h>
#include <unistd.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace lustre_collector {
extern const Collector entry;
}

namespace lustre_test {

constexpr const char* kStats = "/sys/kernel/debug/lustre/llite/scratch-ffff8d0c5c1e3800/stats";
constexpr const char* kExtents =
    "/sys/kernel/debug/lustre/llite/scratch-ffff8d0c5c1e3800/extents_stats";

TEST(Lustre, reads_a_client_and_its_targets) {
  OpenedSource source(lustre_collector::entry, machine_root("lustre-client"));
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("lustre.read.bytes{fs=scratch}"), 146821914624);
  EXPECT_EQ(source.value("lustre.write.calls{fs=scratch}"), 20480);
  EXPECT_EQ(source.value("lustre.operations{fs=scratch;operation=open}"), 1281210);
  EXPECT_DOUBLE_EQ(*source.value("lustre.operation_time{fs=scratch;operation=open}"), 512.033112);
  EXPECT_EQ(source.value("lustre.readahead.misses{fs=scratch}"), 912033);
  EXPECT_EQ(source.value("lustre.extents{direction=read;fs=scratch;size=128K}"), 1120331);
  EXPECT_EQ(source.value("lustre.target.requests{fs=scratch;target=OST0001}"), 640255);
  EXPECT_EQ(source.value("lustre.target.read.bytes{fs=scratch;target=OST0000}"), 73410957312);
  EXPECT_EQ(source.value("lustre.target.requests{fs=scratch;target=MDT0000}"), 2581203);
  EXPECT_FALSE(source.has("lustre.target.read.bytes{fs=scratch;target=MDT0000}"));
}

// Lustre omits lines that have counted nothing yet.
TEST(Lustre, takes_a_line_that_is_not_there_for_nothing) {
  OpenedSource source(lustre_collector::entry, machine_root("lustre-client"));
  source.sample();
  EXPECT_EQ(source.value("lustre.write.bytes{fs=home}"), 0);
  EXPECT_EQ(source.value("lustre.operations{fs=scratch;operation=rename}"), 0);
}

TEST(Lustre, is_absent_when_a_file_is_torn) {
  TestRoot root("lustre-client");
  OpenedSource source(lustre_collector::entry, root.path());
  const std::string text = root.text(kStats);
  root.write(kStats, text.substr(0, text.size() - 10));
  source.sample();
  EXPECT_EQ(source.value("lustre.read.bytes{fs=scratch}"), std::nullopt);
  root.write(kStats, "");
  source.sample();
  EXPECT_EQ(source.value("lustre.write.bytes{fs=scratch}"), std::nullopt);
  EXPECT_EQ(source.value("lustre.write.bytes{fs=home}"), 0);
}

TEST(Lustre, notices_larger_reads) {
  TestRoot root("lustre-client");
  OpenedSource source(lustre_collector::entry, root.path());
  root.write(kExtents, root.text(kExtents) + " 256K -  512K :  3    0  100  |   4    0  100\n");
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  source.sample();
  EXPECT_EQ(source.value("lustre.extents{direction=write;fs=scratch;size=512K}"), 4);
}

// To 2.11: below /proc, [regs] instead of times.
TEST(Lustre, reads_old_clients) {
  TestRoot root;
  root.write("/proc/fs/lustre/llite/work-ffff881038261c00/stats",
             "snapshot_time             1477386221.123456 secs.usecs\n"
             "read_bytes                12 samples [bytes] 4096 4096 49152\n"
             "open                      7 samples [regs]\n");
  OpenedSource source(lustre_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("lustre.read.bytes{fs=work}"), 49152);
  EXPECT_EQ(source.value("lustre.operations{fs=work;operation=open}"), 7);
  EXPECT_EQ(source.missing("lustre.operation_time"),
            "not counted by this version of the Lustre client");
}

TEST(Lustre, says_what_would_switch_the_sizes_on) {
  TestRoot root("lustre-client");
  root.write(kExtents, "disabled\n write anything to this file to activate\n");
  OpenedSource source(lustre_collector::entry, root.path());
  EXPECT_EQ(source.missing("lustre.extents"),
            "this client does not count the sizes of reads and writes | sudo lctl set_param "
            "llite.*.extents_stats=1");
}

TEST(Lustre, says_how_to_read_debugfs) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  TestRoot root("lustre-client");
  std::filesystem::permissions(root.at("/sys/kernel/debug"), std::filesystem::perms::none);
  OpenedSource source(lustre_collector::entry, root.path());
  EXPECT_EQ(source.missing("lustre.read.bytes"),
            "no permission to read /sys/kernel/debug/lustre | sudo mount -o remount,mode=755 "
            "/sys/kernel/debug");
  std::filesystem::permissions(root.at("/sys/kernel/debug"), std::filesystem::perms::owner_all);
}

}  // namespace lustre_test

}  // namespace trainscope
