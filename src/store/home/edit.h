// Changes what a person wrote about a run, its name, note and tags, or what was concluded from it.
//
// Guarantees: nothing else of the manifest changes, fields that this version does not know
// included; a reader sees the old manifest or the new one. Limits: the recorder writes the manifest
// again at the end of a run, so that a change before is lost: the caller must check that the run is
// not being recorded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace trainscope {

struct RunEdit {
  std::optional<std::string> name, note;    // "" removes it
  std::map<std::string, std::string> tags;  // to add or to replace
  std::vector<std::string> removed_tags;

  bool is_empty() const { return !name && !note && tags.empty() && removed_tags.empty(); }
};

// An Error when the manifest is damaged or lacks a tag that is to be removed; then nothing changes.
Status edit_run(const std::string& run_path, const RunEdit& edit);

// Stores the verdict of a run that has ended.
Status store_verdict(const std::string& run_path, const StoredVerdict& verdict);

}  // namespace trainscope
