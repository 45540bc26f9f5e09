// trainscope compare: is B faster than A, does the hardware behave differently, and why.
#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/compare_text.h"
#include "cli/compared_sides.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "compare/compare.h"
#include "document/document.h"
#include "store/store.h"

namespace trainscope::compare_command {

namespace {

constexpr int kExitFailIf = 1;

struct CompareFlags {
  std::shared_ptr<ReadingFlags> reading;
  std::vector<std::string> runs;
  std::string align = "progress";
  // Empty strings are errors: a script whose variable is not set must not pass.
  std::optional<std::string> same_within, fail_if;
  bool all = false, explain = false, markdown = false;
};

Result<CompareOptions> compare_options(const CompareFlags& flags) {
  CompareOptions options;
  options.align = flags.align == "time"   ? Align::time
                  : flags.align == "step" ? Align::step
                                          : Align::progress;
  if (flags.same_within) {
    auto within = parse_percent(*flags.same_within);
    if (!within) return std::move(within).with_context("--same-within").error();
    options.same_within = *within;
  }
  return options;
}

void show_comparison(const CompareFlags& flags, const Comparison& comparison, bool is_first) {
  const size_t width = terminal_width(STDOUT_FILENO);
  const CompareStyle style{flags.all, flags.explain, colour_wanted(STDOUT_FILENO), width};
  if (!is_first) show_text("\n");
  show_text(flags.markdown ? comparison_markdown(comparison, style)
                           : comparison_text(comparison, style));
}

// Whether --fail-if fires; it warns where that cannot be told. `b`: which side this is.
bool fires(const FailIf& condition, const Comparison& comparison, const std::string& b) {
  const FailIfAnswer answer = check_fail_if(condition, comparison.speed);
  if (answer == FailIfAnswer::cannot_tell) {
    print_error(fmt::format("warning: cannot tell whether {} is more than {} % slower: {}", b,
                            number_text(100 * condition.slower), comparison.speed.sentence));
  }
  return answer == FailIfAnswer::fires;
}

Result<int> compare_all(const CompareFlags& flags) {
  if (flags.runs.size() < 2) {
    return Error("compare: two runs are needed; try: trainscope compare latest~1 latest");
  }
  if (flags.reading->json && flags.markdown) {
    return Error("compare: --json and --markdown exclude each other; use one of them");
  }
  TS_TRY(const CompareOptions options, compare_options(flags));
  std::optional<FailIf> condition;
  if (flags.fail_if) {
    TS_TRY(condition, parse_fail_if(*flags.fail_if));
  }
  std::vector<std::vector<std::string>> sides;
  for (const std::string& text : flags.runs) {
    TS_TRY(std::vector<std::string> paths, side_paths(flags.reading->home, text));
    sides.push_back(std::move(paths));
  }
  Json documents = Json::array();
  bool has_fired = false;
  for (size_t i = 1; i < sides.size(); ++i) {
    TS_TRY(const Comparison comparison, compare_runs(sides[0], sides[i], options, open_found_run));
    if (flags.reading->json) {
      documents.push_back(comparison_json(comparison, flags.explain));
    } else {
      show_comparison(flags, comparison, i == 1);
    }
    const std::string b = sides.size() > 2 ? "B, '" + flags.runs[i] + "'," : "B";
    if (condition && fires(*condition, comparison, b)) has_fired = true;
  }
  if (flags.reading->json && documents.size() == 1) {
    print_json(documents[0]);
  } else if (flags.reading->json) {
    print_json({{"schema", "trainscope.compare/1"}, {"comparisons", std::move(documents)}});
  }
  return has_fired ? kExitFailIf : 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<CompareFlags>();
  flags->reading = add_reading_flags(options, settings, true);
  options.add({.name = "RUN",
               .value = "RUN",
               .help = "two or more sides, each compared with the first: a folder, id or name; "
                       "repeats as A1,A2, 'NAME*' or repeat-ID",
               .repeats = true,
               .set = store_in(flags->runs)});
  options.add({.name = "--align",
               .value = "PART",
               .help = "compare all of each run after the warm-up (progress), as long as the "
                       "shortest run (time), or as many steps as the shortest has (step) "
                       "(default: progress)",
               .choices = {"progress", "time", "step"},
               .set = store_in(flags->align)});
  options.add({.name = "--same-within",
               .value = "PERCENT",
               .help = "differences up to this are the same (default: 2% of speed, 5% of metrics)",
               .set = [flags](const std::string& value) { flags->same_within = value; }});
  options.add({.name = "--fail-if",
               .value = "CONDITION",
               .help = "exit with code 1 if B is certainly slower by more than this: slower:5%",
               .set = [flags](const std::string& value) { flags->fail_if = value; }});
  options.add({.name = "--all",
               .value = "",
               .help = "show all metrics, not only those that differ",
               .set = store_in(flags->all)});
  options.add({.name = "--explain",
               .value = "",
               .help = "show null hypotheses, tests, p-values and what was compared",
               .set = store_in(flags->explain)});
  options.add({.name = "--markdown",
               .value = "",
               .help = "print Markdown for a pull request",
               .set = store_in(flags->markdown)});
  return [flags] { return compare_all(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "compare",
    .summary = "compare runs: is training faster, does the hardware behave differently, and why",
    .examples = R"(trainscope compare latest~1 latest
trainscope compare old~2,old~1,old 'new*'
trainscope compare baseline candidate --fail-if slower:5%
trainscope compare baseline candidate --markdown)",
    .add = add,
};

}  // namespace trainscope::compare_command
