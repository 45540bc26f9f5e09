#include "web/request.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace request_test {

TEST(WebRequest, a_target_is_a_path_and_decoded_parameters) {
  const auto target = parse_target("/api/run/6a3efywy0f/columns?series=3%2C4&from=1.5&name=a+b");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/run/6a3efywy0f/columns");
  EXPECT_EQ(*target->find("series"), "3,4");
  EXPECT_EQ(*target->find("from"), "1.5");
  EXPECT_EQ(*target->find("name"), "a b");
  EXPECT_EQ(target->find("to"), nullptr);
  EXPECT_EQ(*parse_target("/?token=")->find("token"), "");
  EXPECT_TRUE(parse_target("/?&a=1&&")->find("a") != nullptr);
}

TEST(WebRequest, values_are_decoded_once) {
  EXPECT_EQ(*parse_target("/?a=%2525")->find("a"), "%25");
}

TEST(WebRequest, malformed_targets_are_refused) {
  for (const std::string target :
       {"", "api/runs", "http://evil.example/", "/../etc/passwd", "/a/..", "/%2e%2e/etc", "//etc",
        "/a\\b", "/a b", "/a\x01", "/\xff", "/?a=%", "/?a=%2", "/?a=%zz", "/?a=%00", "/?a=%0a",
        "/?=1", "/?a=1&a=2", "*"}) {
    EXPECT_FALSE(parse_target(target)) << target;
  }
  EXPECT_FALSE(parse_target("/" + std::string(kMostTargetBytes, 'a')));
  std::string many = "/?";
  for (size_t i = 0; i <= kMostParameters; ++i) many += "p" + std::to_string(i) + "=1&";
  EXPECT_FALSE(parse_target(many));
}

TEST(WebRequest, numbers_are_finite_and_whole_texts) {
  EXPECT_EQ(parse_query_number("-1.5e2"), -150);
  for (const std::string text : {"", " 1", "1 ", "1x", "nan", "inf", "1e999", "0x10", "--1"}) {
    EXPECT_FALSE(parse_query_number(text)) << text;
  }
  EXPECT_EQ(parse_query_count("12"), 12U);
  for (const std::string text : {"", "-1", "+1", "1.0", "99999999999999999999999"}) {
    EXPECT_FALSE(parse_query_count(text)) << text;
  }
}

TEST(WebRequest, lists_have_a_limit) {
  EXPECT_EQ(*parse_query_counts("3,4,5", 3), (std::vector<size_t>{3, 4, 5}));
  EXPECT_FALSE(parse_query_counts("3,4,5", 2));
  EXPECT_FALSE(parse_query_counts("3,,5", 9));
  EXPECT_FALSE(parse_query_counts("", 9));
  EXPECT_EQ(parse_run_ids("6a3efywy0f,x_-9", 2)->size(), 2U);
  EXPECT_FALSE(parse_run_ids("a,b,c", 2));
  for (const std::string text : {"", "a,", "../x", "a/b", "a.b", "a b", "\n"}) {
    EXPECT_FALSE(parse_run_ids(text, 9)) << text;
  }
  EXPECT_FALSE(is_run_id_text(std::string(65, 'a')));
}

}  // namespace request_test
}  // namespace trainscope
