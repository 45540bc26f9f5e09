// The part of a report that needs no script: verdict, where the time went, findings and the main
// pictures as HTML. It is shown until the script runs, and where scripts are off.
#pragma once

#include <string>

#include "report/report.h"

namespace trainscope {

std::string static_page(const ReportContent& content);
// "baseline" or "baseline and candidate", for the title of the page.
std::string report_title(const ReportContent& content);

}  // namespace trainscope
