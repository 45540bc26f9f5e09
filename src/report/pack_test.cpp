#include "report/pack.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cstring>

#include "base/json.h"
#include "document/document.h"

namespace trainscope {
namespace pack_test {

std::string gunzipped(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string out(1 << 20, '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(pack, gzip_comes_back_and_is_always_the_same) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i * i);
  const auto packed = gzipped(text);
  ASSERT_TRUE(packed);
  EXPECT_EQ(gunzipped(*packed), text);
  EXPECT_EQ(*gzipped(text), *packed);
  EXPECT_EQ(gunzipped(*gzipped("")), "");
}

TEST(pack, base64_of_rfc_4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\0\xff\xfe", 3)), "AP/+");
}

TEST(pack, json_cannot_end_its_element) {
  const Json json = {{"a", "</script><!--<b>"}};
  const std::string text = json_for_html(json);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(parse_json(text), json);
}

TEST(pack, rounding_keeps_order_and_five_digits) {
  const std::vector<double> values = {0, 1.0 / 3, -1.0 / 3, 123456.789, 1e-9, 86399.95, 2e15};
  const std::string columns =
      write_columns({{"window_s", 1}}, {{Json::object(), {{"time", values}}}});
  const std::string rounded = rounded_columns(columns);
  ASSERT_EQ(rounded.size(), columns.size());
  const size_t begin = columns.size() - 8 * values.size();
  EXPECT_EQ(rounded.substr(0, begin), columns.substr(0, begin));
  for (size_t i = 0; i < values.size(); ++i) {
    double value = 0;
    std::memcpy(&value, rounded.data() + begin + 8 * i, 8);
    EXPECT_LE(std::abs(value), std::abs(values[i]));
    EXPECT_NEAR(value, values[i], std::abs(values[i]) * 1e-5);
  }
  EXPECT_EQ(rounded_columns("TSC"), "TSC");
}

}  // namespace pack_test
}  // namespace trainscope
