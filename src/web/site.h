// What the routes answer from: the home, the runs that are open, and what was computed before.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "document/document.h"
#include "web/listed_runs.h"
#include "web/opened_runs.h"
#include "web/recent_texts.h"
#include "web/running_rows.h"

namespace trainscope {

struct Site {
  Site(std::string home_path, std::map<std::string, std::string> named)
      : home(std::move(home_path)), list(home), runs(home, std::move(named)) {}

  const std::string home;
  ListedRuns list;
  OpenedRuns runs;
  Overviews overviews;
  // Documents of runs that have ended, which do not change: rows of the table, infos, diagnoses.
  RecentTexts documents{size_t{8} << 20};
  RunningRows running_rows;
};

}  // namespace trainscope
