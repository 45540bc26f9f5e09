#include "store/sql/sql_runs.h"

#include <algorithm>

namespace trainscope {

namespace {

// Of a join that goes through several runs at once.
constexpr size_t kOpenRuns = 4;

}  // namespace

QueriedGroup::QueriedGroup(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) runs_.push_back(list_run(path));
}

Result<std::shared_ptr<const RunView>> QueriedGroup::open(size_t at) const {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const OpenRun& run) { return run.at == at; });
  if (found != open_.end()) {
    std::rotate(found, found + 1, open_.end());
    return open_.back().run;
  }
  TS_TRY(std::unique_ptr<RunView> run, open_run(runs_[at].path));
  if (open_.size() == kOpenRuns) open_.erase(open_.begin());
  open_.push_back({at, std::move(run)});
  return open_.back().run;
}

}  // namespace trainscope
