#include "record/sample/job_stops.h"

#include <fmt/format.h>
#include <string.h>

#include <utility>

namespace trainscope {

std::string JobStops::take_change() {
  const int now = memory_->job_stop_signal;
  if (std::exchange(last_, now) == now) return "";
  if (now == 0) return "the job was continued";
  return fmt::format("the job was stopped by signal {} ({})", now, ::strsignal(now));
}

}  // namespace trainscope
