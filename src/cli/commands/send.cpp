// send: reports one line of training progress from a shell, without ever waiting or failing.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/print.h"

namespace trainscope::send_command {

namespace {

constexpr size_t kMaxLineBytes =
    4096;  // longer writes into a FIFO may mix with those of other processes

// A job must not end because its report could not be delivered: every way out is 0.
int send_line(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_error("send: nothing to send; try: trainscope send step 5 loss=0.31");
    return 0;
  }
  const std::string line = fmt::format("{}\n", fmt::join(words, " "));
  if (line.size() > kMaxLineBytes) {
    print_error(
        fmt::format("send: the line has {} bytes, at most {} are accepted; nothing was sent",
                    line.size(), kMaxLineBytes));
    return 0;
  }
  const char* pipe = std::getenv("TRAINSCOPE_PIPE");
  if (pipe == nullptr || *pipe == '\0') return 0;  // not in a run
  ::signal(SIGPIPE, SIG_IGN);
  // Fails at once if there is no reader; a full pipe drops the line.
  const UniqueFd fd(::open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (fd) (void)!::write(fd.get(), line.data(), line.size());
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& /*settings*/) {
  options.take_job("LINE…");
  return [&options]() -> Result<int> { return send_line(options.job); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "send",
    .summary = "report training progress from a shell script; never waits, never fails",
    .examples = R"(trainscope send step 5 loss=0.31
trainscope send phase input 0.02      # the step waited 20 ms for data
trainscope send begin checkpoint; save; trainscope send end checkpoint
# in Python: trainscope.step(loss=0.31), with trainscope.phase("input"): …)",
    .add = add,
};

}  // namespace trainscope::send_command
