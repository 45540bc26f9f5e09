#include "record/sample/job_stops.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include "kernel/process_handle.h"
#include "kernel/process_tree.h"

namespace trainscope {

std::string JobStops::take_change() {
  const int now = memory_->job_stop_signal;
  if (std::exchange(last_, now) == now) return "";
  if (now == 0) return "the job was continued";
  return fmt::format("the job was stopped by signal {} ({})", now, ::strsignal(now));
}

void continue_supervisor(const Shared& memory, pid_t supervisor) {
  if (memory.supervisor_has_stopped == 0) return;
  ProcessStat stat;
  if (read_stat("", memory.job_pid, stat) && (stat.state == 'T' || stat.state == 't')) return;
  const ProcessHandle process(supervisor);
  if (::getppid() == supervisor) (void)process.send(SIGCONT);
}

}  // namespace trainscope
