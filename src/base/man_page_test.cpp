#include "base/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainscope {
namespace man_page_test {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RoffText, text_never_becomes_a_request_or_an_escape) {
  EXPECT_EQ(roff_text(".so /etc/passwd"), "\\&.so /etc/passwd");
  EXPECT_EQ(roff_text("'br"), "\\(aqbr");
  EXPECT_EQ(roff_text("(?<step>\\d+)"), "(?<step>\\(rsd+)");
  EXPECT_EQ(roff_text("one\n.br"), "one .br");
}

TEST(RoffText, characters_print_as_they_are) {
  EXPECT_EQ(roff_text("--every 'a' \"b\" `c` ~^"),
            "\\-\\-every \\(aqa\\(aq \\(dqb\\(dq \\(gac\\(ga \\(ti\\(ha");
  EXPECT_EQ(roff_text("RUN… 5 µs \U0001F600"), "RUN\\[u2026] 5 \\[u00B5]s \\[u1F600]");
}

TEST(RoffText, bytes_that_are_not_utf8_are_replaced) {
  EXPECT_EQ(roff_text("a\xff"), "a\\[uFFFD]");
  EXPECT_EQ(roff_text("a\xe2\x80"), "a\\[uFFFD]\\[uFFFD]");
}

TEST(ManPage, has_the_layout_that_man_expects) {
  ManPage page("trainscope-run", "run a job", "trainscope 1.2");
  page.section("OPTIONS");
  page.entry("--every", "DURATION", "sampling period");
  page.entry("--quiet", "", "print nothing");
  EXPECT_EQ(page.text(),
            ".TH \"trainscope\\-run\" 1 \"\" \"trainscope 1.2\"\n"
            ".nh\n.ad l\n"
            ".SH NAME\ntrainscope\\-run \\- run a job\n"
            ".SH OPTIONS\n"
            ".TP\n\\fB\\-\\-every\\fR \\fIDURATION\\fR\nsampling period\n"
            ".TP\n\\fB\\-\\-quiet\\fR\nprint nothing\n");
}

TEST(ManPage, lines_of_an_example_stay_lines) {
  ManPage page("a", "b", "c");
  page.example("one\n.two");
  EXPECT_THAT(page.text(), HasSubstr(".nf\none\n\\&.two\n.fi\n"));
  EXPECT_THAT(page.text(), Not(HasSubstr("\n.two")));
}

}  // namespace man_page_test
}  // namespace trainscope
