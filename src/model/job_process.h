// The first process of a job, as its run states it while it is recorded: by it, others on the same
// kernel find the job's processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/manifest.h"

namespace trainscope {

// The kind of the event that states it. With `--after` there is one for each command.
inline constexpr std::string_view kJobProcessEvent = "process";

struct JobProcess {
  int64_t pid = 0, start_ticks = 0;
  int64_t pid_namespace = 0;  // in which the pid means it: the inode of /proc/PID/ns/pid
  bool operator==(const JobProcess&) const = default;
};

// "pid 4711, start 8123456, PID namespace 4026531836"
std::string job_process_text(const JobProcess& process);
// The last one that is stated; nothing if none is, or if its text is not one of these.
std::optional<JobProcess> find_job_process(const std::vector<Event>& events);

}  // namespace trainscope
