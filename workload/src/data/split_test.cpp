#include "data/split.h"

#include <gtest/gtest.h>

#include <string>

#include "data/sha1.h"

namespace trainscope::workload {
namespace {

std::string hex(std::string_view text) {
  std::string result;
  for (const std::uint8_t byte : sha1(text)) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
  }
  return result;
}

TEST(Sha1, vectors_of_the_standard) {
  EXPECT_EQ(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(hex(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

// What hashlib and retrain.py's formula give in Python.
TEST(Split, agrees_with_retrain_py) {
  EXPECT_DOUBLE_EQ(split_percent("daisy/5547758_eea9edfd54_n.jpg"), 68.68499941144138);
  EXPECT_DOUBLE_EQ(split_percent("roses/a.png"), 59.49824720247274);
  EXPECT_DOUBLE_EQ(split_percent("x/1_nohash_0.jpg"), 29.413044671811495);
  EXPECT_DOUBLE_EQ(split_percent("tulips/\xc3\xbc.jpg"), 61.52398930135361);
}

TEST(Split, names_before_nohash_stay_together) {
  EXPECT_EQ(split_percent("daisy/1_nohash_0.jpg"), split_percent("daisy/1_nohash_77.jpg"));
  EXPECT_NE(split_percent("daisy/1_nohash_0.jpg"), split_percent("daisy/2_nohash_0.jpg"));
}

TEST(Split, shares_hold_on_average) {
  int validation = 0;
  int test = 0;
  constexpr int kNames = 20000;
  for (int i = 0; i < kNames; ++i) {
    const SetKind kind = choose_set("class/" + std::to_string(i) + ".jpg", {10.0, 20.0});
    validation += kind == SetKind::kValidation ? 1 : 0;
    test += kind == SetKind::kTest ? 1 : 0;
  }
  EXPECT_NEAR(validation, kNames / 10, 200);
  EXPECT_NEAR(test, kNames / 5, 250);
}

}  // namespace
}  // namespace trainscope::workload
