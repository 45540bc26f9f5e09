#include "record/recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "model/model.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace recorder_test {

// A day ahead from the second reading on.
struct SetClocks {
  int readings = 0;

  ClockReading operator()() {
    ClockReading reading = ClockReading::now();
    if (readings++ > 0) reading.realtime_ns += 86'400 * kNsPerSecond;
    return reading;
  }
};

// Records nothing but this machine for a moment, in a process that the recorder ends.
void record_a_moment(RecorderSetup setup) {
  const UniqueFd wake(::eventfd(0, EFD_CLOEXEC)), ready(::eventfd(0, EFD_CLOEXEC));
  auto lifeline = make_pipe(), log = make_pipe(), progress = make_pipe();
  ASSERT_TRUE(lifeline && log && progress);
  for (const UniqueFd* fd : {&log->read, &progress->read}) {
    ASSERT_EQ(::fcntl(fd->get(), F_SETFL, O_NONBLOCK), 0);
  }
  OutputPlan output;
  SharedMemory memory = setup.memory;
  memory->incarnation = 1;
  setup.output = &output;
  setup.supervisor_pid = ::getpid();
  setup.wake_fd = wake.get();
  setup.ready_fd = ready.get();
  setup.lifeline_fd = lifeline->read.get();
  setup.log_fd = log->read.get();
  setup.progress_fd = progress->read.get();
  setup.period_ns = 20 * kNsPerMs;
  const pid_t recorder = ::fork();
  if (recorder == 0) run_recorder(std::move(setup));
  const int64_t until = monotonic_ns() + 60 * kNsPerSecond;
  while (memory->first_sample_taken == 0 && monotonic_ns() < until) ::usleep(1000);
  begin_time(*memory);
  memory->stop = 1;
  ::eventfd_write(wake.get(), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(recorder, &status, 0), recorder);
  EXPECT_EQ(memory->finished, kAllWritten);
}

TEST(Recorder, a_clock_that_is_set_is_an_event_of_the_run) {
  const TemporaryFolder home;
  const auto run = create_run(home.path());
  ASSERT_TRUE(run);
  RecorderSetup setup;
  setup.memory = *SharedMemory::create(4 << 20);
  setup.run_path = run->path;
  setup.manifest.id = run->id;
  setup.read_clocks = SetClocks();
  record_a_moment(setup);
  const auto recorded = open_run(run->path);
  ASSERT_TRUE(recorded) << recorded.error().message();
  std::vector<std::string> texts;
  for (const Event& event : (*recorded)->events()) {
    if (event.kind == "clock") texts.push_back(event.text);
  }
  EXPECT_EQ(texts, std::vector<std::string>{"the wall clock was set by +86400.000 s"});
}

}  // namespace recorder_test
}  // namespace trainscope
