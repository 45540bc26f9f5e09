#include "cli/sql_json.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/print.h"

namespace trainscope {
namespace sql_json_test {

using Rows = std::vector<std::vector<SqlValue>>;

struct Written {
  std::string text;
  size_t longest = 0;  // of what was written at once
};

Written write(const std::vector<std::string>& names, const Rows& rows) {
  Written written;
  SqlDocument document([&](std::string_view text) -> Status {
    written.text += text;
    written.longest = std::max(written.longest, text.size());
    return {};
  });
  const SqlOutput output = document.output();
  EXPECT_TRUE(output.columns(names));
  for (const auto& row : rows) EXPECT_TRUE(output.row(row));
  EXPECT_TRUE(document.finish());
  return written;
}

TEST(sql_json, is_the_document_that_a_whole_one_would_be) {
  const Rows rows = {{SqlValue(), int64_t{-3}, 0.25, std::string("a\n\"b\"\x1b[0m")},
                     {std::string(), int64_t{1} << 60, 1e300, std::string("\xff é")}};
  const Json document = {
      {"schema", "trainscope.sql/1"},
      {"columns", {"n", "i", "d", "t\nx"}},
      {"rows",
       {{nullptr, int64_t{-3}, 0.25, "a\n\"b\"\x1b[0m"}, {"", int64_t{1} << 60, 1e300, "\xff é"}}}};
  EXPECT_EQ(write({"n", "i", "d", "t\nx"}, rows).text, json_text(document) + "\n");
}

TEST(sql_json, without_rows) {
  const Json document = {
      {"schema", "trainscope.sql/1"}, {"columns", {"a"}}, {"rows", Json::array()}};
  EXPECT_EQ(write({"a"}, {}).text, json_text(document) + "\n");
}

TEST(sql_json, is_written_in_parts) {
  const Written written = write({"a"}, Rows(50'000, {int64_t{1}}));
  EXPECT_GT(written.text.size(), 500'000U);
  EXPECT_LT(written.longest, 100'000U);
}

}  // namespace sql_json_test
}  // namespace trainscope
