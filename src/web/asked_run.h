// For routes: the run that a request asks for, and documents that are computed once.
#pragma once

#include <string>
#include <utility>

#include "base/freed_memory.h"
#include "base/result.h"
#include "web/answer.h"
#include "web/route.h"
#include "web/site.h"

namespace trainscope {

// The run that the first part of the path names, opened; or the refusal.
struct AskedRun {
  OpenedRuns::Run run;
  WebAnswer refused;  // if there is no run
};
AskedRun open_asked_run(const RouteRequest& request, OpenedRuns::Wanted wanted);
AskedRun open_run_by_id(Site& site, const std::string& id, OpenedRuns::Wanted wanted);

// The id, and what changes in a manifest after the end: `edit` and the verdict.
std::string manifest_key(const Manifest& manifest);

// Computes a document of a run that has ended once.
template <typename Compute>
Result<WebAnswer> kept_answer(Site& site, const std::string& kind, const RunView& run,
                              const Compute& compute) {
  const std::string key = kind + " " + manifest_key(run.manifest());
  const bool is_final = run.status() == RunStatus::ended;
  WebAnswer answer;
  if (is_final) {
    if (auto known = site.documents.find(key)) {
      answer.body = std::move(*known);
      return answer;
    }
  }
  TS_TRY(answer.body, compute());
  if (is_final) {
    site.documents.keep(key, answer.body);
  } else {
    return_freed_memory();  // it is computed again and again
  }
  return answer;
}

}  // namespace trainscope
