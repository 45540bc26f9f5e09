// RUN arguments that mean runs by their names: NAME, NAME~1 and 'NAME*'.
//
// Guarantees: pure functions of texts. Limits: a run without a name is not meant by any of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainscope {

struct RunsByName {
  std::string name;          // "resnet" of "resnet~1"
  bool is_pattern = false;   // the name has wildcards: *, ?, [
  bool counts_back = false;  // "~1" follows the name
  size_t back = 0;           // how many runs before the newest one
};

RunsByName parse_runs_by_name(std::string_view text);

// Does a run of this name belong to what the argument means? Wildcards as in base/glob.h.
bool is_meant(const RunsByName& wanted, const std::string& run_name);

}  // namespace trainscope
