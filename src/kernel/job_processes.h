// The processes by which a job is found. Written by the recorder's control thread, read by sources
// on other threads.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <vector>

#include "kernel/job_roster.h"

namespace trainscope {

struct JobProcesses {
  std::atomic<pid_t> first_pid{0};  // 0 until the job has started
  std::atomic<pid_t> reaper_pid{
      0};  // our subreaper: orphans of the job become its children; 0: none
  std::atomic<pid_t> recorder_pid{0};     // children of the reaper that are not the job's
  std::atomic<pid_t>* gpu_pid = nullptr;  // where the source `gpu` stores the pid of its process
  std::vector<pid_t> others;  // children that the reaper had before the job; set before any source
  JobRoster* roster = nullptr;  // null where every source looks for itself
};

}  // namespace trainscope
