#include "kernel/proc_file.h"

#include <gtest/gtest.h>

#include "testing/test_root.h"

namespace trainscope {

namespace proc_file_test {

TEST(Scanner, takes_numbers_that_fit_and_skips_those_that_do_not) {
  Scanner scan("  12\t9223372036854775807 9223372036854775808 18446744073709551616 7");
  int64_t value = -1;
  EXPECT_TRUE(scan.number(value));
  EXPECT_EQ(value, 12);
  EXPECT_TRUE(scan.number(value));
  EXPECT_EQ(value, INT64_MAX);
  EXPECT_FALSE(scan.number(value));
  EXPECT_FALSE(scan.number(value));
  EXPECT_EQ(value, INT64_MAX);  // untouched
  EXPECT_TRUE(scan.number(value));
  EXPECT_EQ(value, 7);
  EXPECT_FALSE(scan.number(value));
  EXPECT_TRUE(scan.done());
}

TEST(Scanner, takes_signed_numbers) {
  int64_t value = 0;
  EXPECT_TRUE(Scanner("-274000\n").signed_number(value));
  EXPECT_EQ(value, -274000);
  EXPECT_FALSE(Scanner("-").signed_number(value));
  EXPECT_FALSE(Scanner("--1").signed_number(value));
  EXPECT_FALSE(Scanner("").signed_number(value));
}

TEST(Scanner, walks_words_and_lines) {
  Scanner scan("one two\nthree\n\nlast");
  EXPECT_EQ(scan.word(), "one");
  EXPECT_EQ(scan.word(), "two");
  EXPECT_EQ(scan.word(), "");  // not over the end of the line
  EXPECT_EQ(scan.line(), "");
  EXPECT_EQ(scan.line(), "three");
  EXPECT_EQ(scan.line(), "");
  EXPECT_EQ(scan.line(), "last");
  EXPECT_TRUE(scan.done());
  EXPECT_EQ(scan.line(), "");
}

TEST(ProcFile, cuts_content_at_a_whole_line) {
  TestRoot root;
  root.write("/file", "total 123\nfree 456\n");
  ProcFile file;
  ASSERT_TRUE(file.open(root.at("/file"), 15));
  EXPECT_EQ(file.read(), "total 123\n");
  EXPECT_EQ(file.read_all(), "total 123\n");
  ASSERT_TRUE(file.open(root.at("/file"), 5));
  EXPECT_EQ(file.read(), "");
}

TEST(ProcFile, reads_to_the_end_of_a_paged_file) {
  // The kernel gives a part of such a file to each read; all of it must arrive.
  ProcFile file;
  ASSERT_TRUE(file.open("/proc/self/mountinfo", 1 << 20));
  EXPECT_EQ(file.read_all(), *read_file("/proc/self/mountinfo"));
  EXPECT_EQ(file.read_all(), *read_file("/proc/self/mountinfo"));
}

TEST(ProcFile, is_empty_when_it_cannot_be_read) {
  ProcFile file;
  EXPECT_EQ(file.read(), "");
  EXPECT_FALSE(file.open("/no/such/file"));
  EXPECT_EQ(file.read_all(), "");
  int64_t value = 5;
  EXPECT_FALSE(file.read_number(value));
  EXPECT_EQ(value, 5);
  ASSERT_TRUE(file.open("/proc/self"));  // a folder: opens, does not read
  EXPECT_EQ(file.read(), "");
}

TEST(ProcFile, tells_why_in_words) {
  EXPECT_EQ(read_error_text("/x", Error("", ENOENT)), "/x does not exist");
  EXPECT_EQ(read_error_text("/x", Error("", EACCES)), "no permission to read /x");
  EXPECT_EQ(read_error_text("/x", Error("it broke", EIO)), "it broke");
}

}  // namespace proc_file_test

}  // namespace trainscope
