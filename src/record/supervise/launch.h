// Starts the job as the user's shell would: execve, no shell, none of our descriptors left open.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "record/supervise/output.h"

namespace trainscope {

struct Launched {
  pid_t pid = 0;
  int exec_error = 0;  // errno of a failed exec; then the process has ended already and is reaped
};

Result<Launched> launch(const std::vector<std::string>& command,
                        const std::map<std::string, std::string>& more_environment,
                        const OutputPlan& output);

// The arguments it was started with, as far as they are readable.
std::vector<std::string> command_line_of(pid_t pid);
// Its working directory; "" when that is not to be seen.
std::string working_directory_of(pid_t pid);
// R, S, T, Z, …; '?' if it does not exist.
char process_state(pid_t pid);
// Is the signal pending for the process?
bool signal_waits(pid_t pid, int number);

}  // namespace trainscope
