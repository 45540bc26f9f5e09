// Steps of a run that is being recorded, as JSON Lines.
//
// What is known of a step may change as long as more is reported: which of the first steps are
// warm-up, which source counts. So nothing is written before kFirstSteps steps, and the last step
// only at the end. Rows that turned out otherwise are found at the end, and said.
#pragma once

#include <memory>

#include "export/export.h"

namespace trainscope {

std::unique_ptr<FollowedExport> follow_steps(const ExportOptions& options, const ExportSink& sink);

}  // namespace trainscope
