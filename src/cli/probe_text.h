// What a probe found out, for people; `probe` and `diagnose` show it.
#pragma once

#include <string>

#include "probe/probe.h"

namespace trainscope {

// Each effect with its name, what they mean together, and whether the run's learning may be used.
std::string probe_text(const ProbeResult& result);
// The lines of `diagnose`: the effects that were measured.
std::string proof_text(const ProbeResult& result);

}  // namespace trainscope
