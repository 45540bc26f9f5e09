#include "collect/support/counters/counter_row.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "collect/collect.h"

namespace trainscope {

namespace counter_row_test {

struct Taken {
  Extraction how = Extraction::no_row;
  uint64_t bits = 0;
  int64_t integer() const { return static_cast<int64_t>(bits); }
  double real() const { return std::bit_cast<double>(bits); }
};

Taken take(const std::string& parameters, const std::string& content, bool newline_expected = true,
           const std::string& type = "int") {
  auto specs = parse_counters(std::string_view("x:" + type + "@/f+" + parameters));
  EXPECT_TRUE(specs) << parameters;
  const CounterSpec& spec = specs->front();
  Taken taken;
  if (spec.type.binary_bytes > 0) {
    const std::string_view bytes(content);
    taken.how = spec.offset > bytes.size()
                    ? Extraction::no_row
                    : extract_binary(spec.type, bytes.substr(spec.offset), taken.bits);
    return taken;
  }
  CounterText text;
  text.assign(content, newline_expected);
  std::unique_ptr<RowPattern> pattern;
  if (!spec.match.empty()) {
    auto compiled = RowPattern::compile(spec.match);
    if (compiled) pattern = std::make_unique<RowPattern>(std::move(*compiled));
  }
  taken.how = extract(spec, pattern.get(), text, taken.bits);
  return taken;
}

constexpr const char* kLustre =
    "snapshot_time             1591101234.123 secs.nsecs\n"
    "read_bytes                1281167 samples [bytes] 1 4194304 146821914624\n"
    "write_bytes               20480 samples [bytes] 17 1048576 21474836480\n";

TEST(CounterRow, takes_the_columns_of_a_lustre_row) {
  EXPECT_EQ(take("c=6;r=1", kLustre).integer(), 146821914624);
  EXPECT_EQ(take("c=1;r=1", kLustre).integer(), 1281167);
  EXPECT_EQ(take("key=write_bytes;c=6", kLustre).integer(), 21474836480);
  EXPECT_EQ(take("key=write_bytes", kLustre).integer(), 20480);
  EXPECT_EQ(take("match=^write_;c=5", kLustre).integer(), 1048576);
  EXPECT_EQ(take("match=^write_\\w+\\s+(\\d+)", kLustre).integer(), 20480);
}

// Repeated separators collapse, leading ones are skipped, a tab is not a space.
TEST(CounterRow, cuts_columns_as_strtok_does) {
  EXPECT_EQ(take("c=1", "  7   8  9\n").integer(), 8);
  EXPECT_EQ(take("c=0", "  7   8  9\n").integer(), 7);
  EXPECT_EQ(take("c=2;s=:", "::a::b:12\n").integer(), 12);
  EXPECT_EQ(take("c=2", "cpu MHz\t\t: 2400\n").integer(), 2400);
  EXPECT_EQ(take("c=1", "a\t1 2\n").integer(), 2);
  EXPECT_EQ(take("c=1;s=\\t", "a b\t\t5\n").integer(), 5);
}

TEST(CounterRow, reads_integers_as_c_writes_them) {
  EXPECT_EQ(take("", "0x1f\n").integer(), 31);
  EXPECT_EQ(take("", "017\n").integer(), 15);  // octal, as documented
  EXPECT_EQ(take("", "-42\n").integer(), -42);
  EXPECT_EQ(take("", "+5\n").integer(), 5);
  EXPECT_EQ(take("", "12kB\n").integer(), 12);
  EXPECT_EQ(take("", "12.9\n").integer(), 12);
  EXPECT_EQ(take("", "9223372036854775807\n").integer(), INT64_MAX);
  EXPECT_EQ(take("", "ff\n", true, "int_hex").integer(), 255);
  EXPECT_EQ(take("", "0xff\n", true, "uint_hex").integer(), 255);
  EXPECT_EQ(take("", "-1\n", true, "int_hex").integer(), -1);
  EXPECT_EQ(take("", "18446744073709551615\n", true, "uint").bits, UINT64_MAX);
}

TEST(CounterRow, reads_real_numbers) {
  EXPECT_EQ(take("c=1", "0.25 1.5e3 x\n", true, "double").real(), 1500);
  EXPECT_EQ(take("", "-0.5\n", true, "float").real(), -0.5);
  EXPECT_EQ(take("", "nan\n", true, "double").how, Extraction::not_a_number);
  EXPECT_EQ(take("", "inf\n", true, "double").how, Extraction::out_of_range);
  EXPECT_EQ(take("", "1e999\n", true, "double").how, Extraction::out_of_range);
}

TEST(CounterRow, gives_no_number_where_there_is_none) {
  EXPECT_EQ(take("", "abc\n").how, Extraction::not_a_number);
  EXPECT_EQ(take("", "089\n").how, Extraction::not_a_number);
  EXPECT_EQ(take("", "0x\n").how, Extraction::not_a_number);
  EXPECT_EQ(take("", "99999999999999999999\n").how, Extraction::out_of_range);
  EXPECT_EQ(take("", std::string(100, '1') + "\n").how, Extraction::not_a_number);
  EXPECT_EQ(take("r=3", "1\n2\n").how, Extraction::no_row);
  EXPECT_EQ(take("c=3", "1 2\n").how, Extraction::no_column);
  EXPECT_EQ(take("", "").how, Extraction::no_row);
  EXPECT_EQ(take("", "\n").how, Extraction::no_column);
  EXPECT_EQ(take("key=c", "a 1\nb 2\n").how, Extraction::no_row);
  EXPECT_EQ(take("match=c", "a 1\nb 2\n").how, Extraction::no_row);
}

TEST(CounterRow, does_not_take_a_torn_number) {
  EXPECT_EQ(take("c=1", "a 123").how, Extraction::torn);
  EXPECT_EQ(take("c=1", "a ").how, Extraction::torn);
  EXPECT_EQ(take("c=0", "12 4").integer(), 12);
  EXPECT_EQ(take("c=1", "a 123", false).integer(), 123);  // the file never had a newline
  EXPECT_EQ(take("match=(\\d+)$", "a 123").how, Extraction::torn);
  EXPECT_EQ(take("c=1;r=0", "a 123\nb 4").integer(), 123);
}

TEST(CounterRow, stops_a_pattern_that_takes_too_long) {
  const Taken taken = take("match=^(a+)+$", std::string(60, 'a') + "b\n1\n");
  EXPECT_EQ(taken.how, Extraction::too_costly);
}

TEST(CounterRow, reads_binary_numbers_at_every_offset) {
  std::string bytes(40, '\0');
  const auto put = [&](size_t at, auto value) { std::memcpy(&bytes[at], &value, sizeof value); };
  put(0, int8_t{-3});
  put(1, int16_t{-300});
  put(3, int32_t{-70000});
  put(7, int64_t{-5'000'000'000});
  put(15, uint64_t{0xF000000000000001ULL});
  put(23, 1.5F);
  put(27, -2.25);
  EXPECT_EQ(take("b=0", bytes, true, "int8_bin").integer(), -3);
  EXPECT_EQ(take("", bytes, true, "uint8_bin").integer(), 253);
  EXPECT_EQ(take("b=1", bytes, true, "int16_bin").integer(), -300);
  EXPECT_EQ(take("b=1", bytes, true, "uint16_bin").integer(), 65236);
  EXPECT_EQ(take("b=3", bytes, true, "int32_bin").integer(), -70000);
  EXPECT_EQ(take("b=3", bytes, true, "uint32_bin").integer(), 4294897296);
  EXPECT_EQ(take("b=7", bytes, true, "int64_bin").integer(), -5'000'000'000);
  EXPECT_EQ(take("b=15", bytes, true, "uint64_bin").bits, 0xF000000000000001ULL);
  EXPECT_EQ(take("b=23", bytes, true, "float_bin").real(), 1.5);
  EXPECT_EQ(take("b=27", bytes, true, "double_bin").real(), -2.25);
  EXPECT_EQ(take("b=38", bytes, true, "int32_bin").how, Extraction::no_row);
  EXPECT_EQ(take("b=40", bytes, true, "int8_bin").how, Extraction::no_row);
}

TEST(CounterRow, stores_differences_to_the_first_value) {
  const CounterType natural{"uint", CounterType::Number::natural, 0, 0};
  const CounterType integer{"int", CounterType::Number::integer, 0, 0};
  const CounterType real{"double", CounterType::Number::real, 0, 0};
  EXPECT_EQ(stored_value(natural, UINT64_MAX, UINT64_MAX - 7), 7);
  EXPECT_EQ(stored_value(natural, 3, 10), -7);
  EXPECT_EQ(stored_value(natural, UINT64_MAX, 0), kAbsent);
  EXPECT_EQ(stored_value(integer, static_cast<uint64_t>(-3), 4), -7);
  EXPECT_EQ(stored_value(integer, static_cast<uint64_t>(INT64_MIN), 1), kAbsent);
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  EXPECT_EQ(std::bit_cast<double>(stored_value(real, bits(2.5), bits(1.0))), 1.5);
  EXPECT_EQ(stored_value(real, bits(-0.0), 0), 0);  // never equal to kAbsent
}

}  // namespace counter_row_test

}  // namespace trainscope
