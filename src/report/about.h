// The end of a report: where it was measured, how, and how to do it again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/document.h"

namespace trainscope {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// "12.4 s", "12.4 s so far": how long a run took, or takes until now.
std::string shown_duration(const RunView& run);
// Host, hardware and versions of a run: name and value.
NamedTexts environment_of(const RunView& run);
// How each number was found, in two sentences: title and text.
NamedTexts method_of(const RunView& run, bool has_comparison);
// Of all runs of a report: what differs between them is given for each, with the name of its run.
NamedTexts environment_of(const std::vector<DiagnosedRun>& runs);
NamedTexts method_of(const std::vector<DiagnosedRun>& runs, bool has_comparison);
// The command line that records the same job again, with the commit it was at.
std::string reproduction_of(const Manifest& manifest, const std::string& host_json);
// Those of all runs of a report, each once, below a comment with the name of its run.
std::string reproduction_of(const std::vector<DiagnosedRun>& runs);

}  // namespace trainscope
