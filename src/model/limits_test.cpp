#include "model/limits.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace trainscope {
namespace limits_test {

MachineLimits measured() {
  MachineLimits limits;
  limits.host = "node1";
  limits.limits = {
      {"memory.bandwidth", 21.5e9, "By/s", "triad", "2026-01-02T03:04:05.000Z", "", ""},
      {"disk.read.random", 8123.5, "{operation}/s", "4 KiB", "2026-01-02T03:04:06.000Z", "/data",
       "nvme0n1"}};
  limits.missing = {{"gpu.launch.latency", "no GPU", "install one", "/data"}};
  limits.machine = "Cray, 2 CPUs";
  return limits;
}

TEST(limits, every_field_comes_back) {
  const Json json = limits_to_json(measured());
  EXPECT_EQ(json["schema"], "trainscope.limits/1");
  const auto back = limits_from_json(parse_json(dump_json(json)));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(limits_to_json(*back), json);
  ASSERT_EQ(back->limits.size(), 2U);
  EXPECT_EQ(back->limits[1].value, 8123.5);
  EXPECT_EQ(back->limits[1].device, "nvme0n1");
  EXPECT_EQ(back->missing.at(0).remedy, "install one");
  EXPECT_EQ(back->missing[0].mount_point, "/data");
  EXPECT_EQ(back->machine, "Cray, 2 CPUs");
}

TEST(limits, damage_is_an_error_that_says_what_is_wrong) {
  const auto error_of = [](const char* text) {
    const auto limits = limits_from_json(parse_json(text));
    return limits ? "" : limits.error().message();
  };
  EXPECT_EQ(error_of(R"({"schema":"trainscope.li)"), "it is not a JSON object");
  EXPECT_EQ(error_of("[]"), "it is not a JSON object");
  EXPECT_EQ(error_of(R"({"schema":"trainscope.limits/2","host":"a","limits":[]})"),
            "its schema is 'trainscope.limits/2', not trainscope.limits/1");
  EXPECT_EQ(error_of(R"({"schema":"trainscope.limits/1","limits":[]})"), "it has no host");
  EXPECT_EQ(error_of(R"({"schema":"trainscope.limits/1","host":"a"})"), "it has no list of limits");
  EXPECT_EQ(error_of(R"({"schema":"trainscope.limits/1","host":"a","limits":[5]})"),
            "a limit has no name or no unit");
  for (const char* value : {"0", "-1", "null", "\"x\"", "1e999"}) {
    const std::string text =
        std::string(
            R"({"schema":"trainscope.limits/1","host":"a","limits":[{"name":"m","unit":"s",)") +
        "\"value\":" + value + "}]}";
    EXPECT_NE(error_of(text.c_str()), "") << value;
  }
}

TEST(limits, a_new_measurement_replaces_the_kinds_that_it_measured) {
  MachineLimits stored = measured();
  MachineLimits fresh;
  fresh.host = "node1";
  stored.limits.push_back({"disk.open", 7, "{file}/s", "", "earlier", "/data", "nvme0n1"});
  stored.limits.push_back({"disk.open", 8, "{file}/s", "", "earlier", "/elsewhere", "sdb"});
  stored.limits.push_back({"cpu.speed.one_core", 9, "{flop}/s", "", "earlier", "", ""});
  fresh.limits = {{"disk.read.random", 100, "{operation}/s", "", "later", "/other", "sda"},
                  {"disk.read.random", 9000, "{operation}/s", "", "later", "/data", "nvme0n1"},
                  {"gpu.launch.latency", 5e-6, "s", "", "later", "", ""}};
  fresh.missing = {{"memory.bandwidth", "too little memory", ""}};
  merge_limits(stored, fresh);
  std::string names;
  for (const Limit& limit : stored.limits) names += limit.name + limit.mount_point + " ";
  EXPECT_EQ(names,
            "disk.read.random/other disk.read.random/data gpu.launch.latency disk.open/elsewhere "
            "cpu.speed.one_core ");
  EXPECT_EQ(stored.limits[1].value, 9000);
  ASSERT_EQ(stored.missing.size(), 1U);
  EXPECT_EQ(stored.missing[0].name, "memory.bandwidth");
}

TEST(limits, a_measurement_that_failed_replaces_that_of_the_same_file_system) {
  MachineLimits stored = measured(), fresh;
  fresh.host = "node1";
  fresh.missing = {{"disk.read.random", "no space", "", "/data"}};
  merge_limits(stored, fresh);
  ASSERT_EQ(stored.limits.size(), 1U);
  EXPECT_EQ(stored.limits[0].name, "memory.bandwidth");
  EXPECT_EQ(stored.missing.size(), 2U);
}

TEST(limits, of_many_file_systems_the_latest_are_kept) {
  MachineLimits stored = measured();
  for (int i = 0; i < 300; ++i) {
    MachineLimits fresh;
    fresh.host = "node1";
    const std::string mount_point = "/scratch/slurm." + std::to_string(i);
    fresh.limits = {{"disk.open", 1, "{file}/s", "", "", mount_point, ""},
                    {"disk.read.random", 1, "{operation}/s", "", "", mount_point, ""}};
    merge_limits(stored, fresh);
  }
  ASSERT_EQ(stored.limits.size(), 33U);
  EXPECT_EQ(stored.limits[0].mount_point, "/scratch/slurm.299");
  EXPECT_EQ(stored.limits[31].mount_point, "/scratch/slurm.284");
  EXPECT_EQ(stored.limits[32].name, "memory.bandwidth");
  EXPECT_TRUE(limits_from_json(limits_to_json(stored)));
}

TEST(limits, another_machine_of_the_same_name_has_none_of_them) {
  EXPECT_EQ(machine_kind("Cray", 2), "Cray, 2 CPUs");
  EXPECT_EQ(machine_kind("", 2), "");
  EXPECT_EQ(machine_kind("Cray", 0), "");
  const MachineLimits of_cray = measured();
  EXPECT_TRUE(may_apply_to(of_cray, "Cray, 2 CPUs"));
  EXPECT_TRUE(may_apply_to(of_cray, "")) << "unknown";
  EXPECT_TRUE(may_apply_to({}, "Cray, 2 CPUs")) << "unknown";
  EXPECT_FALSE(may_apply_to(of_cray, "Cray, 4 CPUs"));
  MachineLimits stored = measured(), fresh;
  fresh.host = "node1";
  fresh.machine = "Cray, 4 CPUs";
  fresh.limits = {{"cpu.speed.one_core", 9, "{flop}/s", "", "", "", ""}};
  merge_limits(stored, fresh);
  EXPECT_EQ(stored.machine, "Cray, 4 CPUs");
  EXPECT_EQ(stored.limits.size(), 1U);
  EXPECT_TRUE(stored.missing.empty());
}

TEST(limits, values_have_their_units) {
  EXPECT_EQ(limit_text(1900.0 * (1 << 20), "By/s"), "1.86 GiB/s");
  EXPECT_EQ(limit_text(12.3e9, "{flop}/s"), "12.3 GFLOP/s");
  EXPECT_EQ(limit_text(5850, "{operation}/s"), "5850 reads/s");
  EXPECT_EQ(limit_text(41200, "{file}/s"), "41.2k files/s");
  EXPECT_EQ(limit_text(46e-6, "s"), "46 µs");
}

}  // namespace limits_test
}  // namespace trainscope
