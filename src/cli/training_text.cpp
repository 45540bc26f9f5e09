#include "cli/training_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "analyze/analyze.h"
#include "base/text.h"
#include "cli/analysis_text.h"
#include "model/training.h"

namespace trainscope {

namespace {

constexpr size_t kMaxShownSets = 4;
constexpr double kOutside_s = 10, kOutsideShare = 0.05;  // worth a row, if it is both

std::string source_text(const Training& training) {
  const std::map<std::string, std::string> names = {
      {"pipe", "the pipe"}, {"tensorboard", "event files"}, {"output", "printed lines"}};
  const auto named = [&](const std::string& source) {
    const auto found = names.find(source);
    return found == names.end() ? source : found->second;
  };
  std::string text = "from " + named(training.source);
  for (const std::string& other : training.unused_sources) text += ", not from " + named(other);
  return text;
}

std::string steps_text(const Training& training) {
  if (!training.count) return printable(training.reason);
  const StepStatistics& statistics = training.statistics;
  std::string text = fmt::format("{} {}", *training.count, source_text(training));
  if (statistics.p50_s && statistics.p99_s) {
    text += fmt::format("; p50 {}, p99 {}", duration_text(*statistics.p50_s),
                        duration_text(*statistics.p99_s));
  } else if (statistics.mean_s) {
    text += fmt::format("; mean {}", duration_text(*statistics.mean_s));
  }
  if (!training.times_reason.empty()) text += "; " + printable(training.times_reason);
  if (statistics.throughput)
    text += fmt::format("; {} items/s", count_text(*statistics.throughput));
  if (training.warmup_steps > 0) text += fmt::format("; {} warm-up", training.warmup_steps);
  return text;
}

// "start-up 40 s, 12 s after the last step": what of the run is not training, where it is much.
std::string outside_text(const RunView& run) {
  const Training& training = run.training();
  if (training.observed == 0) return "";
  const auto is_much = [&](double time_s) {
    return time_s >= kOutside_s && time_s >= kOutsideShare * run.duration_s();
  };
  std::string text;
  if (is_much(training.begin_s)) text = "start-up " + duration_text(training.begin_s);
  const bool has_ended = run.manifest().ended_by != EndedBy::running;
  const double after_s = run.duration_s() - training.end_s;
  if (has_ended && is_much(after_s)) {
    text +=
        fmt::format("{}{} after the last step", text.empty() ? "" : ", ", duration_text(after_s));
  }
  return text;
}

// "best 0.91 after 3 min": of a set that the job did not train on.
std::string best_text(const SetResults& results, const std::string& set) {
  std::string text = fmt::format("; best{} {:.4g} after {}", set, *results.best_accuracy,
                                 duration_text(results.best_time_s));
  if (!results.milestones.empty()) {
    const SetResults::Milestone& last = results.milestones.back();
    text += fmt::format(", {:.3g}% after {}", 100 * last.accuracy, duration_text(last.time_s));
  }
  return text;
}

// The last value of each, then the best ones, with the name of the set if there are several.
std::string learning_text(const Training& training) {
  const std::span all(training.results.data(), std::min(training.results.size(), kMaxShownSets));
  const auto is_rated = [](const SetResults& results) {
    return results.set != "train" && results.best_accuracy;
  };
  const bool has_several = std::count_if(all.begin(), all.end(), is_rated) > 1;
  std::string text, best;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const SetResults& results : all) {
    const std::string set = results.set == "train" ? "" : " (" + printable(results.set) + ")";
    if (results.loss) add(fmt::format("loss{} {:.4g}", set, *results.loss));
    if (results.accuracy) add(fmt::format("accuracy{} {:.4g}", set, *results.accuracy));
    if (is_rated(results)) best += best_text(results, has_several ? set : "");
  }
  if (training.results.size() > all.size()) {
    add(fmt::format("and {} more sets", training.results.size() - all.size()));
  }
  return text + best;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> training_rows(const RunView& run) {
  const Training& training = run.training();
  const bool has_training =
      training.observed > 0 || !training.epochs.empty() || training.are_steps_refused;
  std::vector<std::pair<std::string, std::string>> rows;
  // An imported recording was made by a tool that knows no steps.
  const bool is_imported = !run.manifest().imported_format.empty();
  if (has_training || !is_imported) rows.emplace_back("steps", steps_text(training));
  if (const std::string text = outside_text(run); !text.empty()) rows.emplace_back("outside", text);
  if (const auto completed = run_analyses(run)) {
    for (auto& row : analysis_rows(*completed)) rows.push_back(std::move(row));
  } else {
    rows.emplace_back("analysis", "cannot be done: " + printable(completed.error().message()));
  }
  if (const std::string command = instrument_command(run); !command.empty()) {
    rows.emplace_back("phases", "unknown; try: " + command);
  }
  if (!has_training) return rows;
  rows.emplace_back("learning", learning_text(training));
  if (training.dropped > 0) {
    rows.emplace_back(
        "dropped",
        fmt::format("{} progress messages dropped to avoid blocking the job", training.dropped));
  }
  for (const std::string& note : training.notes) rows.emplace_back("note", note);
  return rows;
}

}  // namespace trainscope
