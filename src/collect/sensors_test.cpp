#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace sensors_collector {
extern const Collector entry;
}

namespace sensors_test {

TEST(Sensors, show_each_sockets_package_once_more) {
  OpenedSource intel(sensors_collector::entry, machine_root("server"));
  intel.sample();
  EXPECT_EQ(intel.value("hw.temperature{sensor=cpu_package}"), 61);
  EXPECT_EQ(intel.value("hw.temperature{sensor=cpu_package_1}"), 64);
  OpenedSource amd(sensors_collector::entry, machine_root("epyc-256"));
  amd.sample();
  EXPECT_EQ(amd.value("hw.temperature{sensor=cpu_package_1}"), 50.125);
  OpenedSource arm(sensors_collector::entry, machine_root("jetson"));
  arm.sample();
  EXPECT_EQ(arm.value("hw.temperature{sensor=cpu_package}"), 47.593);
}

TEST(Sensors, prefer_the_true_temperature_on_amd) {
  TestRoot root("epyc-256");
  root.write("/sys/class/hwmon/hwmon0/temp2_label", "Tdie\n");
  root.write("/sys/class/hwmon/hwmon0/temp2_input", "38125\n");
  OpenedSource source(sensors_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("hw.temperature{sensor=cpu_package}"), 38.125);
}

TEST(Sensors, are_absent_when_they_fail_or_cannot_be_true) {
  TestRoot root("laptop");
  const std::string file = "/sys/class/hwmon/hwmon4/temp1_input";
  OpenedSource source(sensors_collector::entry, root.path());
  for (const char* text : {"", "-256000\n", "-\n", "65261850000\n", "99999999999999999999\n"}) {
    root.write(file, text);
    ASSERT_EQ(source.sample(), Sampled::ok);
    EXPECT_FALSE(source.value("hw.temperature{sensor=coretemp Package id 0}")) << text;
    EXPECT_FALSE(source.value("hw.temperature{sensor=cpu_package}")) << text;
  }
  root.write(file, "-5000\n");
  source.sample();
  EXPECT_EQ(source.value("hw.temperature{sensor=cpu_package}"), -5);
}

TEST(Sensors, have_names_of_their_own) {
  TestRoot root;
  for (const char* chip : {"0", "1", "2"}) {
    const std::string folder = std::string("/sys/class/hwmon/hwmon") + chip;
    root.write(folder + "/name", "jc42\n");
    root.write(folder + "/temp1_input", "30000\n");
    root.write(folder + "/energy1_input", "5000000\n");
    root.write(folder + "/power1_input", "2000000\n");
    root.write(folder + "/power1_average", "1000000\n");
  }
  OpenedSource source(sensors_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("hw.temperature{sensor=jc42 temp1}"), 30);
  EXPECT_EQ(source.value("hw.temperature{sensor=jc42 temp1 2}"), 30);
  EXPECT_EQ(source.value("hw.temperature{sensor=jc42 temp1 3}"), 30);
  EXPECT_EQ(source.value("hw.energy{sensor=jc42 energy1}"), 5);
  EXPECT_EQ(source.value("hw.power{sensor=jc42 power1}"), 2);  // once, not the average too
  EXPECT_EQ(source.opened().columns.size(), 9U);
}

TEST(Sensors, say_why_they_are_missing) {
  OpenedSource vm(sensors_collector::entry, machine_root("vm"));
  EXPECT_EQ(vm.missing("hw.temperature"),
            "this machine shows no temperature sensor: it is a virtual machine");
  OpenedSource metal(sensors_collector::entry, machine_root("container-v1"));
  EXPECT_EQ(metal.missing("hw.fan.speed"),
            "this machine shows no fan | sudo sensors-detect --auto");
}

}  // namespace sensors_test

}  // namespace trainscope
