// Which runs `list` shows.
//
// Guarantees: pure functions of a listing and the time. Limits: a run without a start time has no
// age, so no filter by age lets it pass.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace trainscope {

// As given on the command line; "" and empty: not given.
struct RunFilterTexts {
  std::string name = {}, command = {}, status = {}, newer_than = {}, older_than = {}, count = {};
  std::vector<std::string> tags = {};
};

struct RunFilter {
  std::string name;     // may have wildcards
  std::string command;  // part of the command as `list` shows it, in any case
  std::string status;   // one of run_filter_statuses()
  // Key and value; without a value every one is meant.
  std::vector<std::pair<std::string, std::optional<std::string>>> tags;
  int64_t newer_than_ns = 0, older_than_ns = 0;  // 0: not given
  size_t count = 0;                              // the newest of those that match; 0: all

  bool is_empty() const {
    return name.empty() && command.empty() && status.empty() && tags.empty() &&
           newer_than_ns == 0 && older_than_ns == 0;
  }
};

// running, ended and damaged as in JSON, and `failed`.
std::vector<std::string> run_filter_statuses();

// Not of a job that we stopped when its time was over, and not where the outcome is unknown.
bool has_failed(const RunListing& run);

Result<RunFilter> parse_run_filter(const RunFilterTexts& texts);

// In their order. `now_ns` is the wall clock.
std::vector<RunListing> filter_runs(std::vector<RunListing> runs, const RunFilter& filter,
                                    int64_t now_ns);

}  // namespace trainscope
