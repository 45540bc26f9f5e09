// What to try, in the words of the framework that the job uses.
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"

namespace trainscope {

enum class Framework { unknown, pytorch, tensorflow, jax };

// By what the instrumentation attached to, the libraries that the job has loaded, the launcher in
// the command, or the names of threads.
Framework framework_of(const RunView& run);

enum class Advice {
  load_ahead,
  faster_storage,
  local_copy,
  more_workers,
  slow_worker,
  decode_less,
  decode_in_workers,
  larger_files,
  fewer_threads,
  more_threads,
  launch_less,
  copy_faster,
  less_gpu_memory_traffic,
  save_less,
  overlap_communication,
  warm_cache,
  start_ahead,
  less_gpu_memory,
  count
};
std::string_view advice_text(Advice advice, Framework framework);

}  // namespace trainscope
