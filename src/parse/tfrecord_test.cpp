#include "parse/tfrecord.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace tfrecord_test {

TEST(TfRecord, reads_its_own) {
  std::string file;
  append_tf_record(file, "hello");
  append_tf_record(file, "");
  const TfRecord first = look_at_tf_record(file);
  ASSERT_EQ(first.look, TfLook::whole);
  EXPECT_EQ(first.data, "hello");
  const TfRecord second = look_at_tf_record(std::string_view(file).substr(first.bytes()));
  ASSERT_EQ(second.look, TfLook::whole);
  EXPECT_EQ(second.data, "");
}

TEST(TfRecord, every_beginning_is_incomplete_and_every_flipped_byte_is_seen) {
  std::string file;
  append_tf_record(file, "some data");
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_EQ(look_at_tf_record(file.substr(0, n)).look, TfLook::incomplete) << n;
    std::string flipped = file;
    flipped[n] = static_cast<char>(flipped[n] ^ 1);
    EXPECT_NE(look_at_tf_record(flipped).look, TfLook::whole) << n;
  }
}

// Protobuf by hand: wall_time 2.5, step 7, summary { value { tag "loss" simple_value 0.5 } }.
TEST(TfRecord, reads_the_scalars_of_an_event) {
  const std::string value("\x0a\x04loss\x15\0\0\0\x3f", 11);
  const std::string summary = "\x0a" + std::string(1, static_cast<char>(value.size())) + value;
  const std::string event = std::string("\x09\0\0\0\0\0\0\x04\x40\x10\x07\x2a", 12) +
                            std::string(1, static_cast<char>(summary.size())) + summary;
  const auto parsed = parse_scalar_event(event);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->wall_time_s, 2.5);
  EXPECT_EQ(parsed->step, 7);
  ASSERT_EQ(parsed->scalars.size(), 1U);
  EXPECT_EQ(parsed->scalars[0].tag, "loss");
  EXPECT_EQ(parsed->scalars[0].value, 0.5);
  EXPECT_FALSE(parse_scalar_event("\xff\xff\xff"));
}

}  // namespace tfrecord_test
}  // namespace trainscope
