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

// A second writer of the same folder, by mistake: it does all of its own between two calls of ours.
class Intruder : public StorageCalls {
 public:
  Intruder(SegmentWriter& other, std::string before) : other_(other), before_(std::move(before)) {}
  Status write(int fd, std::string_view bytes) override {
    intrude("write");
    return StorageCalls::write(fd, bytes);
  }
  Status rename(const std::string& from, const std::string& to) override {
    intrude("rename");
    return StorageCalls::rename(from, to);
  }

 private:
  void intrude(std::string_view call) {
    if (call != before_) return;
    EXPECT_TRUE(other_.append_tail("theirs", true));
  }
  SegmentWriter& other_;
  std::string before_;
};

TEST(SegmentWriter, a_tail_that_another_writer_replaced_meanwhile_is_told) {
  for (const char* call : {"write", "rename"}) {
    const TemporaryFolder folder;
    SegmentWriter other(folder.path());
    SegmentWriter ours(folder.path(), std::make_shared<Intruder>(other, call));
    // An error, after which all its rows are written again: never a tail that is taken for ours.
    EXPECT_FALSE(ours.append_tail("ours", true)) << call;
    EXPECT_NE(read_file(folder.path() + "/tail")->find("theirs"), std::string::npos) << call;
    EXPECT_FALSE(exists(folder.path() + "/tail.new"));
  }
}

TEST(SegmentWriter, two_writers_of_one_folder_have_segments_of_their_own) {
  const TemporaryFolder folder;
  SegmentWriter one(folder.path()), two(folder.path());
  const auto first = [](uint32_t number) { return std::to_string(number); };
  EXPECT_EQ(*one.begin(1, first), 1U);
  EXPECT_EQ(*two.begin(1, first), 2U);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(one.append("a"));
    ASSERT_TRUE(two.append("b"));
  }
  EXPECT_TRUE(read_file(folder.path() + "/samples-0001.seg")->ends_with("1aaa"));
  EXPECT_TRUE(read_file(folder.path() + "/samples-0002.seg")->ends_with("2bbb"));
}

}  // namespace segment_writer_test
}  // namespace trainscope
