#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace memory_collector {
extern const Collector entry;
}
namespace paging_collector {
extern const Collector entry;
}

namespace memory_test {

TEST(Memory, keeps_pages_where_all_are_whole_and_kilobytes_else) {
  OpenedSource pages(memory_collector::entry, machine_root("laptop"));
  EXPECT_EQ(pages.opened().columns[0].scale, (Scale{4096, 1}));
  OpenedSource kilobytes(memory_collector::entry, machine_root("container-v2"));
  EXPECT_EQ(kilobytes.opened().columns[0].scale, (Scale{1024, 1}));
  kilobytes.sample();
  EXPECT_EQ(kilobytes.value("system.memory.limit"), 65829122.0 * 1024);
}

TEST(Memory, adds_up) {
  OpenedSource source(memory_collector::entry, machine_root("laptop"));
  source.sample();
  EXPECT_EQ(*source.value("system.memory.usage{state=used}") +
                *source.value("system.memory.usage{state=free}") +
                *source.value("system.memory.usage{state=cached}") +
                *source.value("system.memory.usage{state=buffers}"),
            *source.value("system.memory.limit"));
}

TEST(Memory, notices_swap_that_is_switched_on) {
  TestRoot root("vm");
  OpenedSource source(memory_collector::entry, root.path());
  EXPECT_EQ(source.missing("system.swap.usage"), "this machine has no swap space");
  std::string text = root.text("/proc/meminfo");
  text.replace(text.find("SwapTotal:             0"), 24, "SwapTotal:          4096");
  root.write("/proc/meminfo", text);
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("system.swap.usage{state=used}"), 4096.0 * 1024);
}

TEST(Memory, has_absent_values_for_what_is_not_told) {
  TestRoot root("vm");
  OpenedSource source(memory_collector::entry, root.path());
  root.write("/proc/meminfo", "MemTotal: 400 kB\nMemFree: 100 kB\n");
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("system.memory.usage{state=free}"), 102400);
  EXPECT_EQ(source.value("system.memory.usage{state=used}"), std::nullopt);
  EXPECT_EQ(source.value("system.memory.usage{state=available}"), std::nullopt);
  // Inconsistent numbers are not a usage.
  root.write("/proc/meminfo",
             "MemTotal: 40 kB\nMemFree: 100 kB\nBuffers: 0 kB\nCached: 0 kB\nSReclaimable: 0 kB\n");
  source.sample();
  EXPECT_EQ(source.value("system.memory.usage{state=used}"), std::nullopt);
}

TEST(Memory, says_why_it_is_missing) {
  TestRoot root;
  OpenedSource source(memory_collector::entry, root.path());
  EXPECT_EQ(source.missing("system.memory.usage"),
            "/proc/meminfo does not exist | sudo mount -t proc proc /proc");
  EXPECT_NE(source.missing("system.swap.usage"), "");
}

TEST(Paging, leaves_major_faults_out_of_the_minor) {
  TestRoot root;
  root.write("/proc/vmstat", "nr_free_pages 1\npgfault 100\npgmajfault 7\npgmajfault_s 9\n");
  OpenedSource source(paging_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("system.paging.faults{type=minor}"), 93);
  EXPECT_EQ(source.value("system.paging.faults{type=major}"), 7);
  EXPECT_EQ(source.missing("system.swap.io"), "this kernel is built without swap");
  root.write("/proc/vmstat", "pgfault 100\n");
  source.sample();
  EXPECT_EQ(source.value("system.paging.faults{type=minor}"), std::nullopt);
}

}  // namespace memory_test

}  // namespace trainscope
