#include "base/text.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/clock.h"

namespace trainscope {
namespace text_test {

TEST(ParseDuration, takes_what_people_write) {
  EXPECT_EQ(*parse_duration("100ms"), 100'000'000);
  EXPECT_EQ(*parse_duration("250us"), 250'000);
  EXPECT_EQ(*parse_duration("250µs"), 250'000);
  EXPECT_EQ(*parse_duration("2.5 s"), 2'500'000'000);
  EXPECT_EQ(*parse_duration("3"), 3'000'000'000);
  EXPECT_EQ(*parse_duration("75m"), 75 * 60 * kNsPerSecond);
  EXPECT_EQ(*parse_duration("1h30m"), 5400 * kNsPerSecond);
  EXPECT_EQ(*parse_duration("1 h 30 min"), 5400 * kNsPerSecond);
  EXPECT_EQ(*parse_duration("30D"), 30 * 86400 * kNsPerSecond);
  for (const char* nothing : {"0", "0s", "0ms", "0 min", "0h0m", "0.0"}) {
    EXPECT_FALSE(parse_duration(nothing)) << nothing;
    ASSERT_TRUE(parse_duration_or_zero(nothing)) << nothing;
    EXPECT_EQ(*parse_duration_or_zero(nothing), 0) << nothing;
  }
  EXPECT_EQ(*parse_duration_or_zero("2m"), 120 * kNsPerSecond);
  EXPECT_FALSE(parse_duration_or_zero("0s 0"));
  EXPECT_FALSE(parse_duration_or_zero("-1s"));
}

TEST(ParseDuration, refuses_nonsense_and_says_so) {
  for (const char* text : {"", " ", "0", "0ms", "-1s", "soon", "5 parsecs", "1h30", "ms", "1..2s",
                           "1e9s", "99999999999d", "nan", "inf"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message().find("duration"), std::string::npos) << text;
  }
}

TEST(ParseDuration, a_period_needs_a_unit) {
  EXPECT_EQ(*parse_period("100ms"), 100'000'000);
  EXPECT_EQ(*parse_period(" 2 s"), 2'000'000'000);
  for (const char* bare : {"100", " 1 ", "0.5"}) {
    const auto parsed = parse_period(bare);
    ASSERT_FALSE(parsed) << bare;
    EXPECT_NE(parsed.error().message().find("a unit is missing"), std::string::npos) << bare;
  }
  EXPECT_NE(parse_period("0").error().message().find("more than 0"), std::string::npos);
}

TEST(Texts, counts_are_in_the_singular_or_the_plural) {
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "recorder restart"), "1 recorder restart");
  EXPECT_EQ(counted(2, "recorder restart"), "2 recorder restarts");
}

TEST(Texts, are_short_and_have_units) {
  EXPECT_EQ(duration_text(0.000046), "46 µs");
  EXPECT_EQ(duration_text(0.1), "100 ms");
  EXPECT_EQ(duration_text(17.44), "17.4 s");
  EXPECT_EQ(duration_text(4500), "1 h 15 min");
  EXPECT_EQ(bytes_text(12), "12 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(300.0 * 1024 * 1024), "300 MiB");
  EXPECT_EQ(count_text(12345), "12.3k");
  EXPECT_EQ(count_text(42), "42");
}

TEST(Texts, counts_change_their_unit_when_they_are_rounded) {
  const std::vector<std::pair<double, const char*>> expected = {
      {0, "0"},          {1e-9, "0"},      {0.000012, "0.000012"}, {0.00123, "0.00123"},
      {0.9994, "0.999"}, {0.9996, "1"},    {12.34, "12.3"},        {999, "999"},
      {999.4, "999"},    {999.5, "1000"},  {999.6, "1000"},        {1000, "1000"},
      {5850, "5850"},    {9999, "9999"},   {9999.6, "10k"},        {10'000, "10k"},
      {999'499, "999k"}, {999'500, "1M"},  {1'234'567, "1.23M"},   {9'999'499, "10M"},
      {1.5e9, "1.5G"},   {1.5e12, "1.5T"}, {1.5e16, "15000T"},     {-1'234'567, "-1.23M"}};
  for (const auto& [value, text] : expected) EXPECT_EQ(count_text(value), text) << value;
}

TEST(Texts, durations_change_their_unit_when_they_are_rounded) {
  const std::vector<std::pair<double, const char*>> expected = {
      {0, "0 µs"},           {0.0009994, "999 µs"},   {0.0009996, "1 ms"},   {0.00125, "1.25 ms"},
      {0.9994, "999 ms"},    {0.9996, "1.0 s"},       {59.96, "60.0 s"},     {99.94, "99.9 s"},
      {99.96, "1 min 40 s"}, {3599.4, "59 min 59 s"}, {3599.7, "1 h 0 min"}, {86'399.6, "1 d 0 h"},
      {-0.9996, "-1.0 s"}};
  for (const auto& [seconds, text] : expected) EXPECT_EQ(duration_text(seconds), text) << seconds;
}

TEST(Texts, bytes_change_their_unit_when_they_are_rounded) {
  const std::vector<std::pair<double, const char*>> expected = {
      {1023.4, "1023 B"},          {1023.6, "1.00 KiB"},        {9.994 * 1024, "9.99 KiB"},
      {9.996 * 1024, "10.0 KiB"},  {99.94 * 1024, "99.9 KiB"},  {99.96 * 1024, "100 KiB"},
      {1023.4 * 1024, "1023 KiB"}, {1023.6 * 1024, "1.00 MiB"}, {1e22, "8881784 PiB"}};
  for (const auto& [bytes, text] : expected) EXPECT_EQ(bytes_text(bytes), text) << bytes;
}

TEST(DisplayWidth, counts_columns_not_bytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µs·"), 3U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);  // invalid bytes are shown as one sign each
}

TEST(Printable, disarms_what_a_terminal_would_obey) {
  EXPECT_EQ(printable("a\tb"), "a b");
  EXPECT_EQ(printable("a\nb"), "a⏎b");
  EXPECT_EQ(printable("\033[31mred"), "?[31mred");
  EXPECT_EQ(printable("naïve"), "naïve");
  EXPECT_EQ(printable("\xff"), "?");
  EXPECT_EQ(printable("a\xe2\x80\xae"), "a?");  // right-to-left override
}

TEST(Csv, quotes_what_would_end_a_field) {
  const auto field = [](std::string_view text) {
    std::string out = "a,";
    append_csv_field(out, text);
    return out;
  };
  EXPECT_EQ(field("cpu 0"), "a,cpu 0");
  EXPECT_EQ(field("x,y"), "a,\"x,y\"");
  EXPECT_EQ(field("say \"x\""), "a,\"say \"\"x\"\"\"");
  EXPECT_EQ(field("two\nlines"), "a,\"two\nlines\"");
  EXPECT_EQ(field(""), "a,");
}

TEST(Utc, goes_there_and_back) {
  const int64_t moment = 1'794'742'200'123'000'000;
  EXPECT_EQ(utc_text(moment), "2026-11-15T11:30:00.123Z");
  EXPECT_EQ(utc_from_text(utc_text(moment)), moment);
  EXPECT_EQ(utc_from_text("yesterday"), -1);
}

}  // namespace text_test
}  // namespace trainscope
