// The first line of JSON Lines, which says what the others are.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "export/export.h"

namespace trainscope {

Json labels_json(const Labels& labels);

// Schema trainscope.export/1, and which run it is.
Json header_of_run(const RunView& run);
// The same with the series that follow, as they are exported.
std::string samples_header_line(const RunView& run, const std::vector<size_t>& selected,
                                const ExportOptions& options);

// `,"metric":…,"labels":…,"value":`: what is between the time and the value of a sample.
std::string sample_middle(const Series& series);

}  // namespace trainscope
