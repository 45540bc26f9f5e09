#include "record/intake/event_file_search.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/clock.h"

namespace trainscope {
namespace event_file_search_test {

TEST(SearchScheduleTest, a_dear_search_of_folders_does_not_put_off_that_of_open_files) {
  SearchSchedule folders(std::numeric_limits<int64_t>::max()), open_files(10 * kNsPerSecond);
  EXPECT_EQ(open_files.next_ns(), 0);
  folders.searched(5, 0, kNsPerSecond);
  EXPECT_EQ(folders.next_ns(), 5 + 500 * kNsPerSecond);
  open_files.searched(5, 0, kNsPerSecond);
  EXPECT_EQ(open_files.next_ns(), 5 + 10 * kNsPerSecond);
  // Cheap ones: from half a second to ten.
  open_files.searched(5, 0, 0);
  EXPECT_EQ(open_files.next_ns(), 5 + kNsPerSecond / 2);
  folders.searched(5, 8 * kNsPerSecond, 0);
  EXPECT_EQ(folders.next_ns(), 5 + 4 * kNsPerSecond);
  open_files.searched(5, 3600 * kNsPerSecond, 0);
  EXPECT_EQ(open_files.next_ns(), 5 + 10 * kNsPerSecond);
}

}  // namespace event_file_search_test
}  // namespace trainscope
