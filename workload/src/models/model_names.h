// The names of the models that can be trained, for callers that need none of libtorch's headers.
// The table is in model.h.
#pragma once

#include <string_view>
#include <vector>

namespace trainscope::workload {

struct ModelName {
  std::string_view name;
  std::string_view summary;  // a few words, for --help
};

std::vector<ModelName> model_names();

}  // namespace trainscope::workload
