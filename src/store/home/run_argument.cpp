#include "store/home/run_argument.h"

#include "base/glob.h"
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
  wanted.is_pattern = is_glob(text);
  return wanted;
}

bool is_meant(const RunsByName& wanted, const std::string& run_name) {
  return !run_name.empty() && glob_matches(wanted.name, run_name);
}

}  // namespace trainscope
