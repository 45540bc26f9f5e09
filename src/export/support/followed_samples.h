// Samples of a run that is being recorded, as JSON Lines.
//
// Series that appear later are announced by another header line, which lists them. The series
// train.* are made from all reports of the job: they are written at the end.
#pragma once

#include <memory>

#include "export/export.h"

namespace trainscope {

std::unique_ptr<FollowedExport> follow_samples(const ExportOptions& options,
                                               const ExportSink& sink);

}  // namespace trainscope
