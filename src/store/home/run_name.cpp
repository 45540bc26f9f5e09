#include <fmt/format.h>

#include "base/text.h"
#include "store/read/run_id.h"
#include "store/store.h"

namespace trainscope {

namespace {

std::string_view reads_as(std::string_view name) {
  if (name == "latest") return "the newest run";
  if (parse_runs_by_name(name).counts_back) return "a run before the newest";
  if (name == "." || name == ".." || name.find('/') != std::string_view::npos) return "a path";
  if (name.find_first_of("*?[]") != std::string_view::npos) return "a pattern for many runs";
  if (is_run_id(name)) return "the id of a run";
  return {};
}

}  // namespace

Status check_run_name(std::string_view name) {
  const std::string_view meaning = reads_as(name);
  if (meaning.empty()) return {};
  return Error(fmt::format("'{}' cannot be the name of a run: as a RUN argument it means {}",
                           printable(name), meaning));
}

}  // namespace trainscope
