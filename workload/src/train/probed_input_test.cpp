// How long the blocks of a probe are, on a clock of the test's.
#include "train/probed_input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "monotonic_clock.h"
#include "test_folder.h"

namespace trainscope::workload {
namespace {

// A lease that this process holds itself, and a pipe that nobody reads.
class Lease {
 public:
  Lease() {
    std::filesystem::create_directories(folder_.path() / "instrument");
    std::ofstream(folder_.path() / "instrument/probe")
        << "key job\nranks 1\npid " << ::getpid() << "\nstart_ticks " << start_ticks()
        << "\nuntil_ns 4000000000000000000\nfor_ns 0\n";
    ::setenv("TRAINSCOPE_PIPE", (folder_.path() / "pipe").c_str(), 1);
  }
  ~Lease() { ::unsetenv("TRAINSCOPE_PIPE"); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  static std::string start_ticks() {
    std::ifstream file("/proc/self/stat");
    std::string text, word;
    std::getline(file, text);
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    for (int i = 0; i < 20; ++i) rest >> word;
    return word;
  }

  TestFolder folder_;
};

// Steps without waits are 40 times as short: as many as take 200 ms would be all that a short job
// has left. A usual block has 8 steps, and two changed ones may follow each other.
TEST(ProbedInput, a_short_job_is_not_over_in_one_block) {
  const Lease lease;
  ProbedInput input;
  double now_s = monotonic_s();
  int in_a_row = 0, longest = 0;
  for (int step = 0; step < 2000; ++step) {
    const bool is_replaced = input.is_replaced();
    const double duration_s = is_replaced ? 0.0007 : 0.0277;
    if (!is_replaced) input.note_wait(0.027);
    now_s += duration_s;
    input.end_step(now_s, duration_s);
    in_a_row = is_replaced ? in_a_row + 1 : 0;
    longest = std::max(longest, in_a_row);
  }
  EXPECT_GT(longest, 5) << "nothing was replaced";
  EXPECT_LE(longest, 2 * (4 * 8 + 10));
}

}  // namespace
}  // namespace trainscope::workload
