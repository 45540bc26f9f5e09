// Rows of `list`: the runs of a group in one row, or each in its own.
//
// Guarantees: pure functions of listings. Limits: a run that is in two groups (a rank that was
// repeated) is shown in that of the ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace trainscope {

struct ListRow {
  std::vector<const RunListing*> runs;  // not empty
  std::string group;                    // the id of the group; empty: a row of one run
  std::string place;  // "4 ranks", "3 of 4 ranks"; of one run "rank 2 of 4"; or ""
};

// In the order of `shown`, which are some of the runs that were grouped; a group is where its
// newest run is. With `is_open`, every run has its own row.
std::vector<ListRow> list_rows(const std::vector<RunListing>& shown,
                               const std::vector<RunGroup>& groups, bool is_open);

// "4 ranks" of a group of which so many runs are there; "3 of 4 ranks" if some are missing.
std::string group_size_text(const RunGroup& group, int64_t count);

// The name that all of them have, or "".
std::string common_name(const std::vector<const RunListing*>& runs);
// The tags that all of them have.
std::map<std::string, std::string> common_tags(const std::vector<const RunListing*>& runs);
// The one whose outcome matters most: damaged, failed, running, ended well.
const RunListing& worst_run(const std::vector<const RunListing*>& runs);

}  // namespace trainscope
