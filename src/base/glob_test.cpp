#include "base/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <string>

namespace trainscope {
namespace glob_test {

TEST(glob, is_what_a_shell_matches) {
  for (const char* pattern :
       {"a",      "",     "*", "a*",  "*b",   "a*b*c", "?",   "a?c",    "[ab]", "[!ab]c",
        "[a-c]*", "x[]]", "[", "a[b", "[a-]", "**",    "*.*", "[^a]bc", "a*?",  "[b-a]"}) {
    for (const char* text : {"", "a", "b", "c", "ab", "abc", "acc", "bc", "x]", "[", "a[b", "-",
                             "a.b", "aXbYc", "cba"}) {
      EXPECT_EQ(glob_matches(pattern, text), ::fnmatch(pattern, text, 0) == 0)
          << pattern << " " << text;
    }
  }
}

TEST(glob, many_stars_do_not_take_long) {
  std::string pattern, text(5000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_TRUE(glob_matches(pattern, text));
  EXPECT_FALSE(glob_matches(pattern + "b", text));
}

TEST(glob, wildcards_make_a_pattern) {
  for (const char* text : {"a*", "?", "x[1]"}) EXPECT_TRUE(is_glob(text)) << text;
  for (const char* text : {"", "a.b", "a~1", "x]"}) EXPECT_FALSE(is_glob(text)) << text;
}

}  // namespace glob_test
}  // namespace trainscope
