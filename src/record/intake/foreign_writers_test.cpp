#include "record/intake/foreign_writers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace foreign_writers_test {

// A child that performs one action per command of its parent. They communicate through memory:
// writes to pipes would count.
class Actor {
 public:
  explicit Actor(const std::function<void(int turn)>& act) {
    void* const at =
        ::mmap(nullptr, sizeof(Turns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    turns_ = new (at) Turns;
    pid_ = ::fork();
    while (pid_ == 0) {
      if (turns_->done < turns_->wanted) {
        act(turns_->done);
        ++turns_->done;
      }
      ::usleep(1000);
    }
  }
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  ~Actor() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(turns_, sizeof(Turns));
  }
  void act() {
    ++turns_->wanted;
    while (turns_->done < turns_->wanted) ::usleep(1000);
  }
  pid_t pid() const { return pid_; }

 private:
  struct Turns {
    std::atomic<int> wanted{0}, done{0};
  };
  Turns* turns_ = nullptr;
  pid_t pid_ = -1;
};

UniqueFd opened(const std::string& path, int flags) {
  auto file = open_file(path, flags);
  EXPECT_TRUE(file);
  return std::move(*file);
}

// Its stdout is `log`, and of what the caller of the tests left open (pipes, files that others
// write to) only `kept` stays.
void print_to(int log, const std::vector<int>& kept) {
  ::dup2(log, STDOUT_FILENO);
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) {
    if (std::find(kept.begin(), kept.end(), fd) == kept.end()) ::close(fd);
  }
}

// Whatever is done takes no time; everything takes a second.
int64_t stopped_clock() { return 0; }
int64_t fast_clock() {
  static int64_t now_ns = 0;
  return now_ns += kNsPerSecond;
}

class ForeignWritersTest : public testing::Test {
 protected:
  void SetUp() override {
    log_ = opened(path_, O_WRONLY | O_CREAT | O_APPEND);
    other_ = opened(folder_ + "/other", O_WRONLY | O_CREAT | O_APPEND);
  }

  // This process acts as the supervisor; these children of it do not belong to the job.
  ForeignWriters writers(std::vector<pid_t> strangers,
                         ForeignWriters::CpuClock cpu_clock = stopped_clock) {
    return {::getpid(), std::move(strangers), {log_.get()}, cpu_clock};
  }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  const std::string path_ = folder_ + "/log";
  UniqueFd log_, other_;
};

TEST_F(ForeignWritersTest, who_opens_the_file_and_writes_is_found) {
  UniqueFd own;
  Actor stranger([&](int turn) {
    if (turn == 0) own = opened(path_, O_WRONLY | O_APPEND);
    if (turn == 1) ::lseek(own.get(), 0, SEEK_END);
    if (turn == 2) (void)write_all(own.get(), "step 1\n");
  });
  ForeignWriters watched = writers({stranger.pid()});
  ASSERT_TRUE(write_all(log_.get(), "ours\n"));
  EXPECT_FALSE(watched.look(false, 5));
  stranger.act();
  EXPECT_FALSE(watched.look(true, 5)) << "it has the file open and has not written";
  ::usleep(200'000);  // until all processes may be walked again
  EXPECT_FALSE(watched.look(true, 5));
  stranger.act();
  EXPECT_FALSE(watched.look(false, 10)) << "a position that was moved without writing";
  stranger.act();
  const auto found = watched.look(false, 17);
  ASSERT_TRUE(found);
  EXPECT_NE(found->find(std::to_string(stranger.pid())), std::string::npos) << *found;
}

TEST_F(ForeignWritersTest, who_is_of_the_job_may_open_it_again) {
  UniqueFd own;
  Actor job([&](int turn) {
    if (turn == 0) own = opened(path_, O_WRONLY | O_APPEND);
    (void)write_all(own.get(), "step 1\n");
  });
  ForeignWriters watched = writers({});
  job.act();
  EXPECT_FALSE(watched.look(true, 7));
  job.act();
  EXPECT_FALSE(watched.look(false, 14));
}

TEST_F(ForeignWritersTest, of_those_who_share_its_stdout_the_one_who_writes_is_found) {
  Actor stranger([&](int turn) {
    if (turn == 0) print_to(log_.get(), {other_.get()});
    if (turn == 1) (void)write_all(other_.get(), "not to the log\n");
    if (turn == 2) (void)write_all(STDOUT_FILENO, "step 1\n");
  });
  stranger.act();
  ForeignWriters watched = writers({stranger.pid()});
  EXPECT_FALSE(watched.look(false, 0));
  EXPECT_FALSE(watched.look(false, 10)) << "the job wrote that";
  stranger.act();
  EXPECT_FALSE(watched.look(false, 20)) << "it wrote to a file that it has open";
  stranger.act();
  EXPECT_TRUE(watched.look(false, 27));
}

TEST_F(ForeignWritersTest, many_that_share_it_are_judged_less_often) {
  Actor stranger([&](int turn) {
    if (turn == 0) print_to(log_.get(), {});
    if (turn == 1) (void)write_all(STDOUT_FILENO, "step 1\n");
  });
  stranger.act();
  ForeignWriters watched = writers({stranger.pid()}, fast_clock);
  EXPECT_FALSE(watched.look(false, 0));
  stranger.act();
  EXPECT_FALSE(watched.look(false, 7)) << "judging took a second: the next time is in 100";
  EXPECT_TRUE(watched.look(false, 7, true)) << "at the end";
}

TEST_F(ForeignWritersTest, who_may_have_written_to_its_own_pipe_is_a_doubt_only) {
  int fds[2] = {-1, -1};
  Actor stranger([&](int turn) {
    if (turn == 0) print_to(log_.get(), {});
    if (turn == 0) (void)!::pipe(fds);
    if (turn == 1) (void)write_all(fds[1], "x");
  });
  stranger.act();
  ForeignWriters watched = writers({stranger.pid()});
  EXPECT_FALSE(watched.look(false, 0));
  EXPECT_FALSE(watched.look(false, 10));
  EXPECT_FALSE(watched.doubt()) << "it wrote nothing";
  stranger.act();
  EXPECT_FALSE(watched.look(false, 20));
  ASSERT_TRUE(watched.doubt());
  EXPECT_NE(watched.doubt()->find(std::to_string(stranger.pid())), std::string::npos);
}

}  // namespace foreign_writers_test
}  // namespace trainscope
