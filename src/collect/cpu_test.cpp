#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace cpu_collector {
extern const Collector entry;
}

namespace cpu_test {

constexpr const char* kTail = "intr 5 1 2\nctxt 900\nbtime 1\nprocesses 4\nprocs_running 2\n";

std::string line(const std::string& cpu, int user) {
  return cpu + " " + std::to_string(user) + " 1 2 3 4 5 6 7 8 9\n";
}

TEST(Cpu, tells_processor_1_from_processor_10) {
  TestRoot root;
  root.write("/proc/stat", line("cpu ", 30) + line("cpu1", 10) + line("cpu10", 20) + kTail);
  OpenedSource source(cpu_collector::entry, root.path());
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("system.cpu.time{cpu=10;state=user}"), 0.2);
  root.write("/proc/stat", line("cpu ", 30) + line("cpu10", 20) + line("cpu11", 20) + kTail);
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
}

TEST(Cpu, looks_again_when_a_processor_goes_or_comes) {
  TestRoot root;
  const std::string all = line("cpu ", 30) + line("cpu0", 10) + line("cpu1", 20) + kTail;
  root.write("/proc/stat", all);
  OpenedSource source(cpu_collector::entry, root.path());
  root.write("/proc/stat", line("cpu ", 30) + line("cpu0", 10) + kTail);
  ASSERT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_FALSE(source.has("system.cpu.time{cpu=1;state=user}"));
  root.write("/proc/stat", all);
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
}

TEST(Cpu, has_absent_values_for_what_is_torn_or_empty) {
  TestRoot root;
  const std::string two = line("cpu ", 30) + line("cpu0", 10);
  root.write("/proc/stat", two + kTail);
  OpenedSource source(cpu_collector::entry, root.path());
  root.write("/proc/stat", line("cpu ", 30) + "cpu0 77 88\n");
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("system.cpu.time{cpu=0;state=nice}"), 0.88);
  EXPECT_EQ(source.value("system.cpu.time{cpu=0;state=steal}"), std::nullopt);
  EXPECT_EQ(source.value("system.cpu.context_switches"), std::nullopt);
  root.write("/proc/stat", "");
  ASSERT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("system.cpu.time{cpu=all;state=user}"), std::nullopt);
}

TEST(Cpu, says_why_it_is_missing) {
  TestRoot root;
  OpenedSource source(cpu_collector::entry, root.path());
  EXPECT_EQ(source.missing("system.cpu.time"),
            "/proc/stat does not exist | sudo mount -t proc proc /proc");
  root.write("/proc/stat", "");
  source.open();
  EXPECT_EQ(source.missing("system.cpu.time"), "/proc/stat lists no processors");
}

}  // namespace cpu_test

}  // namespace trainscope
