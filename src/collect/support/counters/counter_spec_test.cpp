#include "collect/support/counters/counter_spec.h"

#include <gtest/gtest.h>

namespace trainscope {

namespace counter_spec_test {

CounterSpec parsed(const std::string& text) {
  auto specs = parse_counters(std::string_view(text));
  EXPECT_TRUE(specs) << text << ": " << (specs ? "" : specs.error().message());
  EXPECT_EQ(specs ? specs->size() : 0, 1U) << text;
  return specs && !specs->empty() ? specs->front() : CounterSpec();
}

std::string refused(const std::string& text) {
  const auto specs = parse_counters(std::string_view(text));
  return specs ? "accepted" : specs.error().message();
}

TEST(CounterSpec, takes_every_part_of_the_grammar) {
  const CounterSpec spec = parsed("read bytes:uint@/proc/fs/lustre/stats+c=6;r=2;s= ;d");
  EXPECT_EQ(spec.name, "read bytes");
  EXPECT_EQ(spec.type.name, "uint");
  EXPECT_EQ(spec.path, "/proc/fs/lustre/stats");
  EXPECT_EQ(spec.column, 6U);
  EXPECT_EQ(spec.row, 2U);
  EXPECT_EQ(spec.separator, ' ');
  EXPECT_TRUE(spec.from_first);
  EXPECT_EQ(spec.kind, Kind::gauge);
  EXPECT_EQ(spec.unit, "1");
}

TEST(CounterSpec, has_the_defaults_of_the_grammar) {
  const CounterSpec spec = parsed("load:/proc/loadavg+");
  EXPECT_EQ(spec.type.name, "int");
  EXPECT_EQ(spec.column, 0U);
  EXPECT_EQ(spec.row, 0U);
  EXPECT_EQ(spec.separator, ' ');
  EXPECT_EQ(spec.offset, 0U);
  EXPECT_FALSE(spec.from_first);
  EXPECT_EQ(parsed("load:/proc/loadavg").path, "/proc/loadavg");
}

TEST(CounterSpec, knows_every_type_in_any_case) {
  using Number = CounterType::Number;
  struct Row {
    const char* name;
    Number number;
    int base;
    size_t bytes;
  };
  const Row rows[] = {{"int", Number::integer, 0, 0},        {"INT_HEX", Number::integer, 16, 0},
                      {"uint", Number::natural, 0, 0},       {"uint_hex", Number::natural, 16, 0},
                      {"Float", Number::real, 0, 0},         {"double", Number::real, 0, 0},
                      {"int8_bin", Number::integer, 0, 1},   {"int16_bin", Number::integer, 0, 2},
                      {"int32_bin", Number::integer, 0, 4},  {"int64_bin", Number::integer, 0, 8},
                      {"uint8_bin", Number::natural, 0, 1},  {"uint16_bin", Number::natural, 0, 2},
                      {"UINT32_BIN", Number::natural, 0, 4}, {"uint64_bin", Number::natural, 0, 8},
                      {"float_bin", Number::real, 0, 4},     {"double_bin", Number::real, 0, 8}};
  for (const Row& row : rows) {
    const CounterSpec spec = parsed(std::string("x:") + row.name + "@/f+b=3");
    EXPECT_EQ(spec.type.number, row.number) << row.name;
    EXPECT_EQ(spec.type.base, row.base) << row.name;
    EXPECT_EQ(spec.type.binary_bytes, row.bytes) << row.name;
    EXPECT_EQ(spec.offset, 3U) << row.name;
  }
}

TEST(CounterSpec, takes_letters_in_both_cases_and_longer_words) {
  for (const char* text : {"x:/f+C=4;R=5;S=:;D;P;A", "x:/f+c=4;l=5;s=:;d;a", "x:/f+C=4;L=5;s=:;d",
                           "x:/f+column=4;row=5;separator=:;delta;point"}) {
    const CounterSpec spec = parsed(text);
    EXPECT_EQ(spec.column, 4U) << text;
    EXPECT_EQ(spec.row, 5U) << text;
    EXPECT_EQ(spec.separator, ':') << text;
    EXPECT_TRUE(spec.from_first) << text;
  }
  EXPECT_EQ(parsed("x:/f+s=\t").separator, '\t');
  EXPECT_EQ(parsed("x:/f+s=\\t").separator, '\t');
  EXPECT_EQ(parsed("x:/f+s=\\;;c=2").separator, ';');
}

// The example of Score-P's own page, with its forgotten semicolon and its empty parameter.
TEST(CounterSpec, takes_the_documented_example) {
  const auto specs = parse_counters(std::string_view(
      "CPU Clock 1:double@/proc/cpuinfo+c=2;r=7;s= ;p,CPU Clock 2:double@/proc/cpuinfo+c=2;r=34;s= "
      ";p,Load AVG:double@/proc/loadavg+c=1;r=0;s= ,MemFree:int@/proc/meminfo+c=1;r=1;s= "
      ",netstat:int@/proc/net/netstat+c=7;r=3s= ;d,dev    :int@/proc/net/dev+c=1;r=3;d,"
      "Core#0Temp:int@/sys/class/hwmon/hwmon0/temp1_input+c=0;r=0;p,Core#1Temp:int_hex@/sys/class/"
      "hwmon/hwmon1/temp1_input+;p"));
  ASSERT_TRUE(specs) << specs.error().message();
  ASSERT_EQ(specs->size(), 8U);
  EXPECT_EQ((*specs)[0].name, "CPU Clock 1");
  EXPECT_EQ((*specs)[1].row, 34U);
  EXPECT_EQ((*specs)[4].row, 3U);
  EXPECT_EQ((*specs)[4].separator, ' ');
  EXPECT_TRUE((*specs)[4].from_first);
  EXPECT_EQ((*specs)[5].name, "dev");
  EXPECT_EQ((*specs)[7].type.name, "int_hex");
}

// Score-P's code needs the name that its page calls optional.
TEST(CounterSpec, names_a_counter_that_has_no_name) {
  EXPECT_EQ(parsed("uint@/proc/fs/lustre/stats+c=6;r=2").name, "stats.r2.c6");
  EXPECT_EQ(parsed("/proc/loadavg+c=1").name, "loadavg.r0.c1");
  EXPECT_EQ(parsed("int64_bin@/run/state+b=16").name, "state.b16");
  EXPECT_EQ(parsed("/proc/meminfo+key=Dirty:").name, "meminfo.Dirty:.c1");
  EXPECT_EQ(parsed("/sys/bus/pci/devices/0000:00:1f.2/numa_node+").path,
            "/sys/bus/pci/devices/0000:00:1f.2/numa_node");
}

TEST(CounterSpec, tells_paths_from_names_and_types) {
  EXPECT_EQ(parsed("MB/s:uint@/x+").name, "MB/s");
  EXPECT_EQ(parsed("x:/devices/0000:00:1f.2/state+").path, "/devices/0000:00:1f.2/state");
  EXPECT_EQ(parsed("x:/firmware/cpu@0/reg+").path, "/firmware/cpu@0/reg");
  EXPECT_EQ(parsed("x:uint@/firmware/cpu@0/reg+").path, "/firmware/cpu@0/reg");
  EXPECT_EQ(parsed("x:int@stats/*.txt+r=1").path, "stats/*.txt");
}

TEST(CounterSpec, takes_what_score_p_lacks) {
  const CounterSpec spec = parsed("r:uint@/s+key=read_bytes;c=6;unit=By;rate");
  EXPECT_EQ(spec.key, "read_bytes");
  EXPECT_EQ(spec.unit, "By");
  EXPECT_EQ(spec.kind, Kind::counter);
  EXPECT_EQ(parsed("r:uint@/s+kind=counter").kind, Kind::counter);
  EXPECT_EQ(parsed("r:uint@/s+kind=gauge").kind, Kind::gauge);
  EXPECT_EQ(parsed("r:/s+key=MemFree:").column, 1U);  // after the key
  EXPECT_EQ(parsed("r:/s+key=a\\;b\\,c").key, "a;b,c");
  EXPECT_EQ(parsed("r:/s+match=^cpu\\s+(\\d{1,3});c=0").match, "^cpu\\s+(\\d{1,3})");
}

TEST(CounterSpec, splits_at_commas_that_begin_a_spec) {
  const auto specs = parse_counters(std::string_view("a:/x+c=1,b:int@/y+match=\\d{1,2}x,c:/z+,"));
  ASSERT_TRUE(specs) << specs.error().message();
  ASSERT_EQ(specs->size(), 3U);
  EXPECT_EQ((*specs)[1].match, "\\d{1,2}x");
  EXPECT_EQ((*specs)[2].path, "/z");
}

TEST(CounterSpec, names_the_spec_and_the_character_of_nonsense) {
  EXPECT_EQ(
      refused("x:flot@/y+"),
      "'x:flot@/y+': character 3: unknown type 'flot'; use one of int, int_hex, uint, uint_hex, "
      "float, double, int8_bin, int16_bin, int32_bin, int64_bin, uint8_bin, uint16_bin, "
      "uint32_bin, uint64_bin, float_bin, double_bin");
  EXPECT_EQ(refused("x:/y+r=-1"),
            "'x:/y+r=-1': character 8: a number from 0 to 1000000 is expected, not '-1'");
  EXPECT_EQ(refused("a:/x+c=1,b:/y+c=q"),
            "'b:/y+c=q': character 17: a number from 0 to 1000000 is expected, not 'q'");
  EXPECT_EQ(refused("x:/y+c=1 2"), "'x:/y+c=1 2': character 9: ' 2' after the number");
  EXPECT_EQ(refused("x:/y+q"),
            "'x:/y+q': character 6: unknown parameter 'q'; use c=, r=, s=, b=, d, p, a, key=, "
            "match=, unit=, kind=, rate");
  EXPECT_EQ(refused("x:/y+s=ab"),
            "'x:/y+s=ab': character 8: s= takes one character (\\t is a tab)");
  EXPECT_EQ(refused("x:/y+match=a("),
            "'x:/y+match=a(': character 12: match: missing closing parenthesis at character 3 of "
            "the pattern");
  EXPECT_EQ(refused(":int@/a"), "':int@/a': character 1: a name is expected before the ':'");
  EXPECT_EQ(refused("x:/y+kind=sum"),
            "'x:/y+kind=sum': character 11: kind must be counter or gauge, not 'sum'");
}

TEST(CounterSpec, refuses_what_cannot_be) {
  for (const char* text :
       {"", ",", "x:", "x:+c=1", "x:int@+c=1", "x:/y+c=", "x:/y+c",
        "x:/y+s=", "x:/y+key=", "x:/y+key=a;r=2", "x:/y+key=a;match=b",
        "x:/y+r=99999999999999999999", "x:/y+b=-1", "x:int8_bin@/y+key=a", "x:/y+rate;kind=gauge",
        "x\ny:/z+", "nothing", ":/proc/loadavg+", " :/proc/loadavg+"}) {
    EXPECT_NE(refused(text), "accepted") << text;
  }
}

TEST(CounterSpec, refuses_two_of_one_name) {
  const auto specs = parse_counters(std::vector<std::string>{"a:/x+", "b:/x+", "a:/y+"});
  ASSERT_FALSE(specs);
  EXPECT_EQ(specs.error().message(), "'a:/y+': counter 'a' exists already; use another name");
}

}  // namespace counter_spec_test

}  // namespace trainscope
