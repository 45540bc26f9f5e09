// /proc/PID/schedstat, and the name and the block delay of a stat, then schedstat of a process as
// the collector job_threads reads it.
#include "collector_input.h"
#include "kernel/schedstat.h"

namespace trainscope {
namespace job_threads_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  trainscope::ThreadTimes times;
  if (trainscope::parse_schedstat(text, times)) CHECK(times.run_ns >= 0 && times.wait_ns >= 0);
  CHECK(trainscope::block_delay_ticks(text).value_or(0) >= 0);
  CHECK(trainscope::thread_name(text).size() <= size);
  trainscope::JobLink job;
  job.first_pid = 100;
  trainscope::write_input("/proc/loadavg", "0.00 0.00 0.00 1/100 100\n");
  trainscope::write_input("/proc/self/schedstat", "1 2 3\n");
  trainscope::write_input("/proc/100/stat",
                          "100 (job) S 1 100 100 0 -1 0 7 8 1 2 5 6 3 4 20 0 2 0 1000 1000000 500 "
                          "1 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 42 0 0\n");
  trainscope::write_input("/proc/100/task/101/schedstat", text);
  trainscope::feed_collector(trainscope::job_threads_collector::entry, "/proc/100/schedstat", data,
                             size, &job);
  return 0;
}
