#include "base/json.h"
#include "collect/collect.h"
#include "collect/support/programs/gpu_process.h"
#include "model/limits.h"

namespace trainscope {

Result<MachineLimits> measure_gpu_limits(int64_t each_ns, int64_t buffer_bytes, int64_t limit_ns) {
  GpuProcess process;
  TS_CHECK_OK(process.start(""));
  TS_TRY(const std::string reply, process.ask_limits(each_ns, buffer_bytes, limit_ns));
  return limits_from_json(parse_json(reply)).with_context("trainscope-gpu is from another build");
}

}  // namespace trainscope
