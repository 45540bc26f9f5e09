#include "store/run_argument.h"

#include <fnmatch.h>

#include "base/text.h"

namespace trainscope {

RunsByName parse_runs_by_name(std::string_view text) {
  RunsByName wanted;
  const size_t tilde = text.rfind('~');
  if (tilde != std::string_view::npos) {
    const auto back = parse_integer(text.substr(tilde + 1));
    if (back && *back >= 0) {
      wanted.counts_back = true;
      wanted.back = static_cast<size_t>(*back);
      text = text.substr(0, tilde);
    }
  }
  wanted.name = text;
  wanted.is_pattern = text.find_first_of("*?[") != std::string_view::npos;
  return wanted;
}

bool is_meant(const RunsByName& wanted, const std::string& run_name) {
  if (run_name.empty()) return false;
  if (!wanted.is_pattern) return run_name == wanted.name;
  return ::fnmatch(wanted.name.c_str(), run_name.c_str(), 0) == 0;
}

}  // namespace trainscope
