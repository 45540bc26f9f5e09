#include "format/segment_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include "testing/temporary_folder.h"

namespace trainscope {
namespace segment_writer_test {

// A tail whose rows were written in part, and that cannot be cut, would have newer rows of some
// streams than of others. A pipe is a file that cannot be cut.
TEST(SegmentWriter, a_tail_that_cannot_be_cut_is_removed) {
  ::signal(SIGPIPE, SIG_IGN);
  const TemporaryFolder folder;
  const std::string tail = folder.path() + "/tail";
  ASSERT_EQ(::mkfifo((tail + ".new").c_str(), 0600), 0);
  UniqueFd reader(::open((tail + ".new").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(reader);
  SegmentWriter writer(folder.path());
  ASSERT_TRUE(writer.append_tail("rows", true));
  EXPECT_TRUE(exists(tail));
  reader.reset();
  EXPECT_FALSE(writer.append_tail("more", false));
  EXPECT_FALSE(exists(tail));
  // The rows are written again.
  ASSERT_TRUE(writer.append_tail("rows and more", true));
  EXPECT_TRUE(read_file(tail)->ends_with("rows and more"));
}

TEST(SegmentWriter, a_tail_that_cannot_be_replaced_leaves_nothing_behind) {
  const TemporaryFolder folder;
  const std::string tail = folder.path() + "/tail";
  ASSERT_EQ(::mkdir(tail.c_str(), 0700), 0);
  SegmentWriter writer(folder.path());
  EXPECT_FALSE(writer.append_tail("rows", true));
  EXPECT_FALSE(exists(tail + ".new"));
  EXPECT_TRUE(exists(tail));
}

}  // namespace segment_writer_test
}  // namespace trainscope
