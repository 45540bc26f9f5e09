#include "parse/tegrastats.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainscope {
namespace parse_tegrastats_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string name_of(const TegraReading& reading) {
  std::string labels;
  for (const auto& [name, value] : reading.labels) {
    labels += (labels.empty() ? "" : ";") + name + "=" + value;
  }
  return std::string(reading.metric) + (labels.empty() ? "" : "{" + labels + "}");
}

// "4.567" or "-" or "not there"
std::string value(const TegraLine& line, const std::string& series) {
  for (const TegraReading& reading : line.readings) {
    if (name_of(reading) != series) continue;
    if (!reading.raw) return "-";
    return fmt::format("{:g}", static_cast<double>(*reading.raw) *
                                   static_cast<double>(reading.numerator) /
                                   static_cast<double>(reading.denominator));
  }
  return "not there";
}

TegraLine parsed(const std::string& line) {
  auto result = parse_tegrastats(line);
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result ? std::move(*result) : TegraLine();
}

TEST(Tegrastats, tx2_with_cores_off_and_clocks) {
  const TegraLine line = parsed(
      "RAM 2448/7858MB (lfb 2x2MB) SWAP 10/3929MB (cached 1MB) IRAM 0/252kB(lfb 252kB) "
      "CPU [12%@1420,off,off,4%@1420,0%@1420,8%@1420] EMC_FREQ 4%@1600 GR3D_FREQ 35%@1122 "
      "APE 150 MTS fg 1% bg 3% BCPU@45C MCPU@45C GPU@44.5C PLL@45C Tboard@39C Tdiode@43.25C "
      "PMIC@100C thermal@44.9C VDD_IN 4567/4321 VDD_CPU 800/790 VDD_GPU 400/380");
  EXPECT_THAT(line.unknown, IsEmpty());
  EXPECT_FALSE(line.clock_s);
  EXPECT_EQ(value(line, "system.memory.usage{state=used}"), fmt::format("{:g}", 2448 * 1048576.0));
  EXPECT_EQ(value(line, "system.memory.utilization"), "0.3115");
  EXPECT_EQ(value(line, "system.swap.usage{state=used}"), fmt::format("{:g}", 10 * 1048576.0));
  EXPECT_EQ(value(line, "system.swap.usage{state=free}"), fmt::format("{:g}", 3919 * 1048576.0));
  EXPECT_EQ(value(line, "jetson.iram.usage"), "0");
  EXPECT_EQ(value(line, "system.cpu.utilization{cpu=0}"), "0.12");
  EXPECT_EQ(value(line, "system.cpu.utilization{cpu=1}"), "-");
  EXPECT_EQ(value(line, "system.cpu.frequency{cpu=1}"), "-");
  EXPECT_EQ(value(line, "system.cpu.utilization{cpu=all}"), "0.06");
  EXPECT_EQ(value(line, "system.cpu.frequency{cpu=5}"), "1.42e+09");
  EXPECT_EQ(value(line, "hw.gpu.memory.controller.utilization{gpu=0}"), "0.04");
  EXPECT_EQ(value(line, "hw.gpu.clock{clock=memory;gpu=0}"), "1.6e+09");
  EXPECT_EQ(value(line, "hw.gpu.utilization{gpu=0}"), "0.35");
  EXPECT_EQ(value(line, "hw.gpu.clock{clock=sm;gpu=0}"), "1.122e+09");
  EXPECT_EQ(value(line, "jetson.engine.clock{engine=APE}"), "1.5e+08");
  EXPECT_EQ(value(line, "jetson.mts.utilization{kind=foreground}"), "0.01");
  EXPECT_EQ(value(line, "jetson.mts.utilization{kind=background}"), "0.03");
  EXPECT_EQ(value(line, "hw.temperature{sensor=Tdiode}"), "43.25");
  EXPECT_EQ(value(line, "hw.temperature{sensor=PMIC}"), "100");
  EXPECT_EQ(value(line, "hw.gpu.temperature{gpu=0}"), "44.5");
  EXPECT_EQ(value(line, "hw.power{sensor=VDD_IN}"), "4.567");
  EXPECT_EQ(value(line, "hw.power{sensor=VDD_GPU}"), "0.4");
}

TEST(Tegrastats, orin_with_two_clusters_invalid_sensors_and_milliwatts) {
  const TegraLine line = parsed(
      "03-04-2023 12:00:01 RAM 5123/30536MB (lfb 4x4MB) SWAP 0/15268MB (cached 0MB) "
      "CPU [2%@1190,0%@1190,off,off] EMC_FREQ 0%@2133 GR3D_FREQ 0%@[305,305] NVENC off NVDEC off "
      "NVJPG off NVJPG1 off VIC off OFA off NVDLA0 off PVA0_FREQ off APE 174 "
      "CV0@-256C CPU@47.5C Tboard@38C SOC2@44.281C tj@47.5C GPU@-256C "
      "VDD_GPU_SOC 3205mW/3205mW VDD_CPU_CV 400mW/400mW VIN_SYS_5V0 3632mW/3632mW/mW");
  EXPECT_THAT(line.unknown, IsEmpty());
  EXPECT_EQ(line.clock_s, 1677931201);
  EXPECT_EQ(value(line, "hw.gpu.clock{clock=sm;gpu=0}"), "3.05e+08");
  EXPECT_EQ(value(line, "hw.gpu.clock{clock=gpc1;gpu=0}"), "3.05e+08");
  EXPECT_EQ(value(line, "jetson.engine.clock{engine=NVENC}"), "-");
  EXPECT_EQ(value(line, "jetson.engine.clock{engine=PVA0}"), "-");
  EXPECT_EQ(value(line, "hw.temperature{sensor=CV0}"), "-");
  EXPECT_EQ(value(line, "hw.gpu.temperature{gpu=0}"), "-");
  EXPECT_EQ(value(line, "hw.temperature{sensor=cpu_package}"), "47.5");
  EXPECT_EQ(value(line, "hw.power{sensor=VDD_GPU_SOC}"), "3.205");
  EXPECT_EQ(value(line, "hw.power{sensor=VIN_SYS_5V0}"), "3.632");
}

TEST(Tegrastats, gpu_clocks_without_load) {
  const TegraLine line = parsed("RAM 1/2MB CPU [0%@1] GR3D_FREQ @[305,306,307]");
  EXPECT_EQ(value(line, "hw.gpu.utilization{gpu=0}"), "not there");
  EXPECT_EQ(value(line, "hw.gpu.clock{clock=sm;gpu=0}"), "3.07e+08");
  EXPECT_EQ(value(line, "hw.gpu.clock{clock=gpc0;gpu=0}"), "3.05e+08");
}

TEST(Tegrastats, without_root_clocks_are_missing) {
  const TegraLine line =
      parsed("RAM 1024/3964MB (lfb 1x1MB) CPU [10%,20%,off,off] EMC_FREQ 0% GR3D_FREQ 7%");
  EXPECT_EQ(value(line, "system.cpu.utilization{cpu=1}"), "0.2");
  EXPECT_EQ(value(line, "system.cpu.utilization{cpu=all}"), "0.15");
  EXPECT_EQ(value(line, "system.cpu.frequency{cpu=0}"), "not there");
  EXPECT_EQ(value(line, "hw.gpu.utilization{gpu=0}"), "0.07");
  EXPECT_EQ(value(line, "hw.gpu.clock{clock=sm;gpu=0}"), "not there");
}

TEST(Tegrastats, fields_in_any_order) {
  const TegraLine line = parsed(
      "GPU@30C VDD_IN 100/100 NVENC 115 POM_5V_GPU 40/40 CPU [1%@102] SWAP 1/2MB (cached 0MB) "
      "GR3D2_FREQ 9%@76 RAM 5/10kB");
  EXPECT_THAT(line.unknown, IsEmpty());
  EXPECT_EQ(value(line, "jetson.engine.clock{engine=NVENC}"), "1.15e+08");
  EXPECT_EQ(value(line, "hw.power{sensor=POM_5V_GPU}"), "0.04");
  EXPECT_EQ(value(line, "hw.gpu.utilization{gpu=1}"), "0.09");
  EXPECT_EQ(value(line, "system.memory.usage{state=used}"), "5120");
  EXPECT_EQ(value(line, "system.memory.utilization"), "0.5");
}

// Xavier calls rails by the names of the parts: CPU is a rail, a list of cores and a sensor.
TEST(Tegrastats, one_name_for_three_things) {
  const TegraLine line = parsed("CPU [3%@1190] CPU@41.5C CPU 310/305 GPU 155/150 VIC_FREQ 5%@115");
  EXPECT_EQ(value(line, "system.cpu.utilization{cpu=0}"), "0.03");
  EXPECT_EQ(value(line, "hw.temperature{sensor=CPU}"), "41.5");
  EXPECT_EQ(value(line, "hw.power{sensor=CPU}"), "0.31");
  EXPECT_EQ(value(line, "jetson.engine.utilization{engine=VIC}"), "0.05");
  EXPECT_EQ(value(line, "jetson.engine.clock{engine=VIC}"), "1.15e+08");
}

TEST(Tegrastats, second_temperature_is_read_over) {
  EXPECT_EQ(value(parsed("GPU@45C/50.5C"), "hw.temperature{sensor=GPU}"), "45");
}

TEST(Tegrastats, what_is_new_is_named_and_the_rest_read) {
  const TegraLine line = parsed("RAM 1/2MB NEWTHING {x} CPU [1%@2]");
  EXPECT_THAT(line.unknown, ElementsAre("NEWTHING", "{x}"));
  EXPECT_EQ(value(line, "system.cpu.utilization{cpu=0}"), "0.01");
}

TEST(Tegrastats, malformed_fields_are_errors) {
  for (const char* bad : {"RAM 24", "RAM 1/2", "RAM x/yMB", "RAM -1/2MB", "CPU [1%@", "CPU [x]",
                          "CPU [1%@]", "MTS fg x% bg 1%", "", "hello world", "12 13"}) {
    EXPECT_FALSE(parse_tegrastats(bad)) << bad;
  }
  EXPECT_THAT(parse_tegrastats("RAM 24").error().message(), HasSubstr("RAM is followed by '24'"));
}

TEST(Tegrastats, a_time_that_cannot_be_is_no_time) {
  EXPECT_FALSE(parsed("02-30-2023 12:00:01 RAM 1/2MB").clock_s);
  EXPECT_TRUE(parsed("02-28-2023 12:00:01 RAM 1/2MB").clock_s);
}

TEST(Tegrastats, labels_hold_no_separators) {
  const TegraLine line = parsed("A;b=c@40C");
  EXPECT_EQ(value(line, "hw.temperature{sensor=A_b_c}"), "40");
}

TEST(Tegrastats, is_recognised) {
  EXPECT_TRUE(looks_like_tegrastats("RAM 1/2MB CPU [1%@2]"));
  EXPECT_FALSE(looks_like_tegrastats("RAM 1/2MB"));
  EXPECT_FALSE(looks_like_tegrastats("time,value"));
}

}  // namespace parse_tegrastats_test
}  // namespace trainscope
