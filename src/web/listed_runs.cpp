#include "web/listed_runs.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "document/document.h"
#include "store/store.h"
#include "web/opened_runs.h"

namespace trainscope {

namespace {

// What is said of others changes without their manifest.
bool is_final(const RunListing& run) {
  return run.status == RunStatus::ended && run.manifest.duration_s.has_value();
}

}  // namespace

std::string ListedRuns::text_of(const std::string& name) {
  const std::string path = home_ + "/" + name;
  const std::string manifest = manifest_version(path);  // before it is read
  {
    const std::lock_guard lock(mutex_);
    const auto known = kept_.find(name);
    if (known != kept_.end() && known->second.manifest == manifest) return known->second.text;
  }
  const RunListing run = list_run(path);
  std::string text = dump_json(listing_json(run));
  if (!is_final(run)) return text;
  const std::lock_guard lock(mutex_);
  kept_[name] = {manifest, text};
  return text;
}

Result<std::string> ListedRuns::document() {
  TS_TRY(const std::vector<std::string> names, run_folders(home_));
  std::string all;
  for (const std::string& name : names) {
    if (!all.empty()) all += ',';
    all += text_of(name);
  }
  {
    const std::lock_guard lock(mutex_);
    const auto is_removed = [&](const auto& kept) {
      return !std::binary_search(names.begin(), names.end(), kept.first);
    };
    if (kept_.size() > names.size()) std::erase_if(kept_, is_removed);
  }
  std::string document = dump_json(list_document({}));
  document.insert(document.find("[]") + 1, all);
  return document;
}

}  // namespace trainscope
