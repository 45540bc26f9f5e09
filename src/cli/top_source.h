// Where the screen of `top` gets a run from: what was recorded so far, and its diagnosis.
#pragma once

#include <string>

#include "model/finding.h"
#include "model/model.h"
#include "tui/tui.h"

namespace trainscope {

// Reads the run in this folder and follows it while it is recorded.
TopSource top_source(const std::string& run_path);

// What the screen shows of a run, without what the job printed.
Result<TopSnapshot> top_snapshot(const RunView& run, const ViewRequest& request);
TopVerdict top_verdict(const Diagnosis& diagnosis);
// The last lines of a text as a terminal would show them: what a carriage return replaced is gone,
// and so are escape sequences.
std::vector<std::string> last_lines(std::string_view text, size_t most);

}  // namespace trainscope
