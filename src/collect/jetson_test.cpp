#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace jetson_collector {
extern const Collector entry;
}

namespace jetson_test {

TEST(Jetson, reads_a_tx2) {
  OpenedSource source(jetson_collector::entry, machine_root("jetson-tx2"));
  source.sample();
  EXPECT_EQ(source.value("hw.gpu.utilization{gpu=0}"), 0.356);
  EXPECT_EQ(source.value("hw.gpu.clock{clock=sm;gpu=0}"), 1122e6);
  EXPECT_EQ(source.value("hw.gpu.clock{clock=memory;gpu=0}"), 1600e6);
  EXPECT_EQ(source.value("hw.gpu.memory.controller.utilization{gpu=0}"), 0.04);
  EXPECT_EQ(source.value("hw.power{sensor=VDD_IN}"), 3.204);
}

TEST(Jetson, multiplies_voltage_and_current_of_an_orin) {
  OpenedSource source(jetson_collector::entry, machine_root("jetson-orin"));
  source.sample();
  EXPECT_EQ(source.value("hw.gpu.utilization{gpu=0}"), 0.99);
  EXPECT_NEAR(*source.value("hw.power{sensor=VDD_GPU_SOC}"), 19.072 * 0.168, 1e-9);
  EXPECT_FALSE(source.has("hw.power{sensor=NC}"));
  EXPECT_FALSE(source.has("hw.power{sensor=sum of shunt voltages}"));
  EXPECT_EQ(source.missing("hw.gpu.memory.controller.utilization"),
            "/sys/kernel/debug/bpmp/debug/clk/emc does not exist | run as root: the memory "
            "controller is in debugfs");
}

TEST(Jetson, what_cannot_be_true_is_absent) {
  const TestRoot root("jetson-tx2");
  OpenedSource source(jetson_collector::entry, root.path());
  root.write("/sys/devices/17000000.gp10b/load", "1001\n");
  root.write("/sys/kernel/actmon_avg_activity/mc_all", "99999999\n");
  root.write("/sys/bus/i2c/drivers/ina3221x/0-0041/iio:device1/in_power0_input", "");
  source.sample();
  EXPECT_FALSE(source.value("hw.gpu.utilization{gpu=0}"));
  EXPECT_FALSE(source.value("hw.gpu.memory.controller.utilization{gpu=0}"));
  EXPECT_FALSE(source.value("hw.power{sensor=VDD_IN}"));
  EXPECT_EQ(source.value("hw.power{sensor=VDD_SYS_CPU}"), 0.61);
}

TEST(Jetson, rails_of_one_name_are_told_apart) {
  const TestRoot root("jetson-tx2");
  root.write("/sys/bus/i2c/drivers/ina3221x/0-0041/iio:device1/rail_name_1", "VDD_IN\n");
  OpenedSource source(jetson_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("hw.power{sensor=VDD_IN}"), 3.204);
  EXPECT_EQ(source.value("hw.power{sensor=VDD_IN 2}"), 0.61);
}

TEST(Jetson, other_machines_are_none) {
  OpenedSource source(jetson_collector::entry, machine_root("vm"));
  EXPECT_TRUE(source.opened().columns.empty());
  EXPECT_EQ(source.missing("hw.gpu.utilization"), "this machine is not a Jetson");
}

}  // namespace jetson_test
}  // namespace trainscope
