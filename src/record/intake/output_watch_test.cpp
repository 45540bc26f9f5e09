#include "record/intake/output_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "testing/temporary_folder.h"

namespace trainscope {
namespace output_watch_test {

// The output of most jobs is a pipe or a terminal. The errno of an earlier call, such as a poll
// that a signal interrupted, means nothing then.
TEST(OutputWatch, of_no_file_has_no_events) {
  OutputWatch watch({});
  EXPECT_EQ(watch.fd(), -1);
  errno = EINTR;
  EXPECT_FALSE(watch.take_events());
}

TEST(OutputWatch, distinguishes_opening_from_writing) {
  const TemporaryFolder folder;
  const auto file = open_file(folder.path() + "/output", O_WRONLY | O_CREAT);
  ASSERT_TRUE(file);
  OutputWatch watch({file->get()});
  ASSERT_EQ(watch.reason(), "");
  EXPECT_FALSE(watch.take_events());
  ASSERT_TRUE(write_all(file->get(), "text"));
  EXPECT_FALSE(watch.take_events());
  const auto again = open_file(folder.path() + "/output", O_RDONLY);
  EXPECT_TRUE(watch.take_events());
  EXPECT_FALSE(watch.take_events());
}

}  // namespace output_watch_test
}  // namespace trainscope
