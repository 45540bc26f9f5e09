#include "cli/run_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/glob.h"
#include "base/text.h"
#include "cli/table.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr int64_t kMostRuns = 1'000'000'000;

bool has_tags(const RunFilter& filter, const Manifest& manifest) {
  return std::all_of(filter.tags.begin(), filter.tags.end(), [&](const auto& wanted) {
    const auto found = manifest.tags.find(wanted.first);
    return found != manifest.tags.end() && (!wanted.second || found->second == *wanted.second);
  });
}

bool has_status(const RunFilter& filter, const RunListing& run) {
  if (filter.status.empty()) return true;
  return filter.status == "failed" ? has_failed(run) : filter.status == run_status_name(run.status);
}

bool has_age(const RunFilter& filter, const Manifest& manifest, int64_t now_ns) {
  if (filter.newer_than_ns == 0 && filter.older_than_ns == 0) return true;
  const int64_t started = utc_from_text(manifest.started);
  if (started < 0) return false;
  const int64_t age_ns = now_ns - started;
  return (filter.newer_than_ns == 0 || age_ns <= filter.newer_than_ns) &&
         (filter.older_than_ns == 0 || age_ns > filter.older_than_ns);
}

bool passes(const RunFilter& filter, const RunListing& run, int64_t now_ns) {
  const Manifest& m = run.manifest;
  if (!filter.name.empty() && (m.name.empty() || !glob_matches(filter.name, m.name))) return false;
  if (!filter.command.empty() &&
      lower(command_text(m.command)).find(lower(filter.command)) == std::string::npos) {
    return false;
  }
  return has_status(filter, run) && has_tags(filter, m) && has_age(filter, m, now_ns);
}

Result<int64_t> parse_age(const char* flag, const std::string& text) {
  if (text.empty()) return 0;
  return parse_duration(text).with_context(flag);
}

}  // namespace

bool has_failed(const RunListing& run) {
  const Manifest& m = run.manifest;
  if (run.status != RunStatus::ended) return false;
  if (m.ended_by == EndedBy::signal || m.ended_by == EndedBy::not_started) return true;
  return m.ended_by == EndedBy::exit && m.exit_code.value_or(0) != 0;
}

std::vector<std::string> run_filter_statuses() { return {"running", "ended", "damaged", "failed"}; }

Result<RunFilter> parse_run_filter(const RunFilterTexts& texts) {
  RunFilter filter;
  filter.name = texts.name;
  filter.command = texts.command;
  filter.status = texts.status;
  for (const std::string& tag : texts.tags) {
    const size_t equals = tag.find('=');
    filter.tags.emplace_back(tag.substr(0, equals),
                             equals == std::string::npos
                                 ? std::nullopt
                                 : std::optional<std::string>(tag.substr(equals + 1)));
  }
  TS_TRY(filter.newer_than_ns, parse_age("--newer-than", texts.newer_than));
  TS_TRY(filter.older_than_ns, parse_age("--older-than", texts.older_than));
  if (texts.count.empty()) return filter;
  const auto count = parse_integer(texts.count);
  if (!count || *count < 1 || *count > kMostRuns) {
    return Error(
        fmt::format("-n: '{}' is not an integer from 1 to {}", printable(texts.count), kMostRuns));
  }
  filter.count = static_cast<size_t>(*count);
  return filter;
}

std::vector<RunListing> filter_runs(std::vector<RunListing> runs, const RunFilter& filter,
                                    int64_t now_ns) {
  std::erase_if(runs, [&](const RunListing& run) { return !passes(filter, run, now_ns); });
  if (filter.count > 0 && runs.size() > filter.count) {
    runs.erase(runs.begin(), runs.end() - static_cast<ptrdiff_t>(filter.count));
  }
  return runs;
}

}  // namespace trainscope
