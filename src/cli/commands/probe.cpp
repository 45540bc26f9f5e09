// probe: runs a job, changes one thing in blocks of its steps, and shows what that does to its
// speed.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/bounded_child.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/print.h"
#include "cli/probe_text.h"
#include "cli/reading.h"
#include "cli/recording.h"
#include "cli/run_text.h"
#include "document/document.h"
#include "store/store.h"

namespace trainscope::probe_command {

namespace {

constexpr const char* kDefaultFor = "2m";
constexpr int kExitNothingMeasured = 1;

struct ProbeFlags {
  std::shared_ptr<Settings> settings;
  bool json = false;
};

// While this lives, what is written to standard output goes to standard error: a job must not
// write into our JSON.
class JobOutputOnStderr {
 public:
  explicit JobOutputOnStderr(bool is_wanted) {
    if (!is_wanted) return;
    own_.reset(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (own_) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~JobOutputOnStderr() {
    if (own_) ::dup2(own_.get(), STDOUT_FILENO);
  }
  JobOutputOnStderr(const JobOutputOnStderr&) = delete;
  JobOutputOnStderr& operator=(const JobOutputOnStderr&) = delete;

 private:
  UniqueFd own_;
};

// Why no process of the job took part, as far as the run has a note of it; "" otherwise.
std::string instrument_note(const Manifest& manifest) {
  for (const std::string& note : manifest.notes) {
    if (note.find("--instrument") != std::string::npos) return note;
  }
  return "";
}

// Ranks switch in the same steps, and the first of them reports the blocks of all.
bool is_answered_by_first_rank(const Manifest& manifest) {
  return manifest.world_size > 1 && manifest.rank > 0 && instrument_note(manifest).empty();
}

// Why the run has no blocks.
std::string no_part_reason(const Manifest& manifest) {
  if (std::string note = instrument_note(manifest); !note.empty()) return note;
  if (is_answered_by_first_rank(manifest)) {
    return fmt::format("the run of rank 0 has the answer; this is rank {} of {}", manifest.rank,
                       manifest.job.empty() ? "the job" : manifest.job);
  }
  return "the job ended before it had done enough steps, or this process is not visible to it (a "
         "container)";
}

bool has_failed(const Manifest& manifest) {
  return manifest.ended_by == EndedBy::signal ||
         (manifest.ended_by == EndedBy::exit && manifest.exit_code.value_or(0) != 0);
}

// What went wrong with the job, then with the probe; "": nothing.
std::string whole_problem(const Manifest& manifest, const std::string& of_probe) {
  if (!has_failed(manifest)) return of_probe;
  const bool was_killed = manifest.ended_by == EndedBy::signal;
  const std::string of_job =
      fmt::format("the job {}{}",
                  was_killed ? "was " : "failed: ", full_outcome_text(manifest, RunStatus::ended));
  return of_probe.empty() ? of_job : of_job + "; " + of_probe;
}

// The answer as one text: whether there is one, then the JSON or the lines to print.
std::string answer_text(const RecordOutcome& outcome, bool json) {
  const auto run = outcome.is_end_stored ? open_run(outcome.run_path)
                                         : open_run(outcome.run_path, outcome.manifest);
  auto found = run ? read_probe(**run) : Result<std::optional<ProbeResult>>(run.error());
  ProbeResult result;
  std::string problem;
  bool is_elsewhere = false;
  if (!found) {
    problem = "the run cannot be read back: " + found.error().message();
  } else if (*found) {
    result = std::move(**found);
  } else {
    problem = no_part_reason((*run)->manifest());
    is_elsewhere = is_answered_by_first_rank((*run)->manifest());
  }
  const Manifest& manifest = outcome.manifest;
  const bool is_fine_elsewhere = is_elsewhere && !has_failed(manifest);
  const std::string answered = result.is_anything_measured() || is_fine_elsewhere ? "1" : "0";
  if (json) {
    if (result.effects.empty()) result = nothing_measured(problem);
    if (problem.empty()) problem = result.problem;
    Json document = probe_document(manifest, result, whole_problem(manifest, problem));
    if (is_elsewhere) document["has_replaced_input"] = nullptr;
    return answered + json_text(document) + "\n";
  }
  problem = whole_problem(manifest, problem);
  return answered + fmt::format("probe of run {}\n", manifest.id) + probe_text(result) +
         (problem.empty() ? "" : fmt::format("  {:<11} {}\n", "problem", printable(problem)));
}

// Reads the run in a child with limits, as the summary is.
Result<int> show_answer(const RecordOutcome& outcome, bool json) {
  if (!outcome.is_closed) return kExitNothingMeasured;  // the reason has been printed
  const ChildAnswer answer =
      ask_child(reading_limits(), [&] { return answer_text(outcome, json); });
  if (answer.end != ChildEnd::done || answer.text.empty()) {
    return Error(fmt::format("probe: the run cannot be read: {}", answer.text));
  }
  if (json) {
    TS_CHECK_OK(write_stdout(answer.text.substr(1)));
    TS_CHECK_OK(flush_stdout());
  } else {
    print_message_text(answer.text.substr(1));
  }
  return answer.text.front() == '1' ? 0 : kExitNothingMeasured;
}

// The error itself has been printed.
Status print_not_started(const Manifest& manifest) {
  const std::string problem = "the job " + full_outcome_text(manifest, RunStatus::ended);
  TS_CHECK_OK(
      write_stdout(json_text(probe_document(manifest, nothing_measured(problem), problem)) + "\n"));
  return flush_stdout();
}

Result<int> probe(const std::vector<std::string>& job, const ProbeFlags& flags) {
  Settings& settings = *flags.settings;
  if (settings.get("for").from == "default") settings.replace("for", {kDefaultFor}, "default");
  settings.replace("instrument", {"true"}, "flag");
  TS_TRY(RunOptions options, recording_options(settings));
  options.command = job;
  options.probe = true;
  options.tags.emplace("probe", "true");
  if (options.command.empty() || options.command.front().empty()) {
    return Error("probe: no command given; try: trainscope probe -- COMMAND…");
  }
  auto outcome = [&] {
    const JobOutputOnStderr redirected(flags.json);
    auto recorded = record_job(options);
    if (recorded) conclude_run(*recorded, options.quiet);
    return recorded;
  }();
  if (!outcome) {
    print_error(outcome.error().message());
    return kExitFailedBeforeJob;
  }
  const Manifest& manifest = outcome->manifest;
  if (manifest.ended_by == EndedBy::not_started) {
    if (flags.json) TS_CHECK_OK(print_not_started(manifest));
    return manifest.exit_code.value_or(kExitFailedBeforeJob);
  }
  return show_answer(*outcome, flags.json);
}

std::function<Result<int>()> add(Options& options, const Settings& loaded) {
  auto flags = std::make_shared<ProbeFlags>();
  flags->settings = std::make_shared<Settings>(loaded);
  add_recording_flags(options, flags->settings, "probe");
  options.add({.name = "--json",
               .value = "",
               .help = "print the effects as JSON; the job's output goes to standard error",
               .set = store_in(flags->json)});
  options.take_job();
  return [&options, flags] { return probe(options.job, *flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "probe",
    .summary = "run a job and prove what limits it, by changing that in blocks of its steps",
    .examples = R"(trainscope probe -- python train.py
trainscope probe --for 10m -- torchrun --nproc-per-node 8 train.py
trainscope probe --json -- python train.py)",
    .add = add,
};

}  // namespace trainscope::probe_command
