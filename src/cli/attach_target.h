// The process that `attach` follows, from the process ids that were given.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainscope {

// Process ids as `pgrep` prints them: one per argument, or several in one, separated by white space
// or commas.
Result<std::vector<pid_t>> parse_process_ids(const std::vector<std::string>& texts);

// The one process from which all the others descend. An Error names two that are unrelated.
// `parent_of` returns 0 for a process that does not exist.
Result<pid_t> common_root(const std::vector<pid_t>& pids,
                          const std::function<pid_t(pid_t)>& parent_of);

// The parent of a running process; 0 if it does not exist.
pid_t parent_of_process(pid_t pid);

// An Error unless the files of this process can be read, with the reason.
Status check_readable(pid_t pid);

}  // namespace trainscope
