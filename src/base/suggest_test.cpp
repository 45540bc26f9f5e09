#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainscope {
namespace suggest_test {

TEST(suggest, edit_distance_counts_edits) {
  EXPECT_EQ(edit_distance("info", "info"), 0U);
  EXPECT_EQ(edit_distance("inof", "info"), 2U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(suggest, only_what_is_near) {
  const std::vector<std::string_view> known = {"run", "list", "export", "doctor"};
  EXPECT_EQ(did_you_mean("rnu", known), "; did you mean 'run'?");
  EXPECT_EQ(did_you_mean("exprot", known), "; did you mean 'export'?");
  EXPECT_EQ(did_you_mean("LIST", known), "; did you mean 'list'?");
  EXPECT_EQ(did_you_mean("frobnicate", known), "");
}

TEST(suggest, several_are_joined) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(did_you_mean(Words{}), "");
  EXPECT_EQ(did_you_mean(Words{"a"}), "; did you mean a?");
  EXPECT_EQ(did_you_mean(Words{"a", "b"}), "; did you mean a or b?");
  EXPECT_EQ(did_you_mean(Words{"a", "b", "c"}), "; did you mean a, b or c?");
}

}  // namespace suggest_test
}  // namespace trainscope
