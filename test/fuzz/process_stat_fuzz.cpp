// /proc/PID/stat as everybody reads it, then stat and io of a process as the job's collector does.
#include "collector_input.h"
#include "kernel/process_tree.h"

namespace trainscope {
namespace job_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  trainscope::ProcessStat stat;
  if (trainscope::parse_stat(text, stat)) {
    for (const int64_t number :
         {stat.minor_faults, stat.child_minor_faults, stat.major_faults, stat.child_major_faults,
          stat.user_ticks, stat.system_ticks, stat.child_user_ticks, stat.child_system_ticks,
          stat.threads, stat.start_ticks, stat.resident_pages}) {
      CHECK(number >= 0);
    }
  }
  trainscope::JobLink job;
  job.first_pid = 100;
  trainscope::write_input("/proc/loadavg", "0.00 0.00 0.00 1/100 100\n");
  trainscope::write_input("/proc/self/io", "rchar: 0\n");
  trainscope::write_input("/proc/100/io", text);
  trainscope::feed_collector(trainscope::job_collector::entry, "/proc/100/stat", data, size, &job);
  return 0;
}
