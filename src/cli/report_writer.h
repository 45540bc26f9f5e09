// Reports as the command line writes them: the runs that arguments name, diagnosed and compared.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/report.h"

namespace trainscope {

// Each side is the paths of its runs (compared_sides.h). Two or more sides are compared, each with
// the first.
Result<ReportContent> read_report(const std::vector<std::vector<std::string>>& sides);

}  // namespace trainscope
