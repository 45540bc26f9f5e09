#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace pressure_collector {
extern const Collector entry;
}
namespace cpu_frequency_collector {
extern const Collector entry;
}

namespace pressure_test {

TEST(Pressure, has_no_full_for_the_cpu_where_the_kernel_has_none) {
  OpenedSource source(pressure_collector::entry, machine_root("container-v2"));
  source.sample();
  EXPECT_FALSE(source.has("system.pressure.time{kind=full;resource=cpu}"));
  EXPECT_EQ(source.value("system.pressure.time{kind=some;resource=cpu}"), 4.663517);
}

TEST(Pressure, says_how_to_switch_it_on) {
  TestRoot root("vm");
  for (const char* file : {"cpu", "memory", "io"}) {
    root.write(std::string("/proc/pressure/") + file, "");  // as with psi=0 before 5.12
  }
  OpenedSource off(pressure_collector::entry, root.path());
  EXPECT_EQ(off.missing("system.pressure.time"),
            "/proc/pressure exists but cannot be read: the kernel does not measure pressure | "
            "boot with psi=1");
  root.remove("/proc/pressure");
  off.open();
  EXPECT_EQ(off.missing("system.pressure.time"),
            "/proc/pressure does not exist: the kernel does not measure pressure | "
            "boot with psi=1");
}

TEST(Pressure, is_absent_when_torn) {
  TestRoot root("vm");
  OpenedSource source(pressure_collector::entry, root.path());
  root.write("/proc/pressure/io", "some avg10=0.00 avg60=0.12 tot");
  source.sample();
  EXPECT_EQ(source.value("system.pressure.time{kind=some;resource=io}"), std::nullopt);
  EXPECT_TRUE(source.value("system.pressure.time{kind=some;resource=cpu}"));
}

TEST(CpuFrequency, looks_again_when_a_processor_goes_offline) {
  TestRoot root("server");
  OpenedSource source(cpu_frequency_collector::entry, root.path());
  ASSERT_EQ(source.sample(), Sampled::ok);
  root.write("/sys/devices/system/cpu/online", "0-6\n");
  root.write("/sys/devices/system/cpu/cpu7/cpufreq/scaling_cur_freq", "");
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_FALSE(source.has("system.cpu.frequency{cpu=7}"));
}

TEST(CpuFrequency, says_why_it_is_missing) {
  OpenedSource vm(cpu_frequency_collector::entry, machine_root("vm"));
  EXPECT_EQ(vm.missing("system.cpu.frequency"),
            "this virtual machine does not show the processors' clock");
  OpenedSource metal(cpu_frequency_collector::entry, machine_root("container-v1"));
  EXPECT_EQ(metal.missing("system.cpu.frequency"),
            "no driver for the processors' clock (cpufreq) is loaded | sudo modprobe acpi-cpufreq");
}

}  // namespace pressure_test

}  // namespace trainscope
