#include "base/fd.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>
#include <vector>

#include "testing/temporary_folder.h"

namespace trainscope {
namespace fd_test {

class Files : public testing::Test {
 protected:
  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(Files, many_at_once_all_succeed_and_leave_one_of_the_texts) {
  const std::string path = folder_ + "/id";
  std::atomic<int> failures{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([&, writer] {
      const std::string text(100, static_cast<char>('a' + writer));
      for (int i = 0; i < 100; ++i) failures += replace_file(path, text) ? 0 : 1;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, std::string(100, text->front()));
  EXPECT_EQ(list_folder(folder_)->size(), 1U);
}

TEST_F(Files, a_neighbour_of_that_name_is_no_obstacle) {
  ASSERT_EQ(::mkdir((folder_ + "/id.new").c_str(), 0700), 0);
  EXPECT_TRUE(replace_file(folder_ + "/id", "text"));
}

TEST_F(Files, what_could_not_be_renamed_is_removed) {
  ASSERT_EQ(::mkdir((folder_ + "/id").c_str(), 0700), 0);
  EXPECT_FALSE(replace_file(folder_ + "/id", "text"));
  EXPECT_EQ(list_folder(folder_)->size(), 1U);
}

TEST(AbsolutePath, is_below_the_folder_unless_it_is_absolute) {
  EXPECT_EQ(absolute_path("a/b", "/x"), "/x/a/b");
  EXPECT_EQ(absolute_path("a", "/"), "/a");
  EXPECT_EQ(absolute_path("/a", "/x"), "/a");
  EXPECT_EQ(absolute_path("", "/x"), "");
  EXPECT_EQ(absolute_path("a", ""), "a");
}

TEST_F(Files, regular_files_are_read_and_others_refused) {
  ASSERT_TRUE(replace_file(folder_ + "/text", "abc"));
  EXPECT_EQ(*read_regular_file(folder_ + "/text", 3), "abc");
  EXPECT_FALSE(read_regular_file(folder_ + "/text", 2));
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read_regular_file(folder_ + "/pipe", 3));
  EXPECT_FALSE(read_regular_file(folder_, 3));
}

}  // namespace fd_test
}  // namespace trainscope
