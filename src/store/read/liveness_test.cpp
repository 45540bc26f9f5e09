#include "store/read/liveness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <fstream>

#include "base/fd.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace liveness_test {

class LivenessTest : public ::testing::Test {
 protected:
  LivenessTest() {
    ::mkdir(path_.c_str(), 0700);
    std::ofstream(path_ + "/tail") << "x";
    manifest_.host_name = "node1";
    manifest_.boot_id = "boot1";
    manifest_.period_ns = 100'000'000;
  }

  void written(int seconds_ago) const {
    const time_t when = ::time(nullptr) - seconds_ago;
    const timespec times[2] = {{when, 0}, {when, 0}};
    ::utimensat(AT_FDCWD, (path_ + "/tail").c_str(), times, 0);
  }
  Liveness seen_from(const std::string& host, const std::string& boot) const {
    return liveness(path_, manifest_, {host, boot});
  }

  TemporaryFolder temporary_;
  const std::string home_ = temporary_.path(), path_ = home_ + "/0aaaaaaa00";
  Manifest manifest_;
};

// NFS shows a write 30 s late and more; nothing that may be alive counts as ended.
TEST_F(LivenessTest, of_another_host_is_judged_with_patience) {
  for (const int age : {0, 20, 120}) {
    written(age);
    EXPECT_EQ(seen_from("node2", "boot2"), Liveness::elsewhere) << age;
  }
  for (const int age : {1000, 100'000, 10'000'000}) {
    written(age);
    EXPECT_EQ(seen_from("node2", "boot2"), Liveness::silent_elsewhere) << age;
  }
  manifest_.ended = "2026-01-02T03:04:06.000Z";
  EXPECT_EQ(seen_from("node2", "boot2"), Liveness::ended);
}

TEST_F(LivenessTest, from_before_a_reboot_has_ended) {
  written(1000);
  EXPECT_EQ(seen_from("node1", "boot2"), Liveness::ended);
  written(1);  // another host of the same name
  EXPECT_EQ(seen_from("node1", "boot2"), Liveness::elsewhere);
}

// A container has its own pids for processes of the same kernel: only the pipe shows the recorder.
TEST_F(LivenessTest, the_open_pipe_tells_of_other_containers) {
  written(1000);
  manifest_.supervisor_pid = 2'000'000'000;
  ASSERT_EQ(::mkfifo((path_ + "/progress").c_str(), 0600), 0);
  EXPECT_EQ(seen_from("container", "boot1"), Liveness::ended);
  EXPECT_EQ(liveness_without_manifest(path_), Liveness::ended);
  const auto pipe = open_file(path_ + "/progress", O_RDWR | O_NONBLOCK);
  ASSERT_TRUE(pipe);
  EXPECT_EQ(seen_from("container", "boot1"), Liveness::here);
  EXPECT_EQ(liveness_without_manifest(path_), Liveness::here);
}

TEST_F(LivenessTest, looking_leaves_nothing_behind) {
  written(10);
  EXPECT_EQ(seen_from("node2", "boot2"), Liveness::elsewhere);
  const auto names = list_folder(home_);
  ASSERT_TRUE(names);
  EXPECT_EQ(names->size(), 1U);
}

}  // namespace liveness_test
}  // namespace trainscope
