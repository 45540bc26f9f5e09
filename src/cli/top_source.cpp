#include "cli/top_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "analyze/analyze.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/diagnosis_text.h"
#include "cli/follow.h"
#include "cli/run_text.h"
#include "cli/table.h"
#include "cli/top_processes.h"
#include "cli/top_rows.h"
#include "cli/top_threads.h"
#include "model/training.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr size_t kOutputLines = 10, kOutputBytes = 8192;
constexpr int64_t kPollPauseNs = 900 * kNsPerMs, kPollPausePerCpu = 19;

RunMark mark_of(const RunView& run) {
  if (run.status() == RunStatus::running) return RunMark::running;
  const Manifest& m = run.manifest();
  switch (m.ended_by) {
    case EndedBy::exit:
      return m.exit_code.value_or(1) == 0 ? RunMark::succeeded : RunMark::failed;
    case EndedBy::signal:
    case EndedBy::not_started:
      return RunMark::failed;
    case EndedBy::time_limit:
    case EndedBy::detached:
      return RunMark::stopped;
    default:
      return m.imported_format.empty() ? RunMark::unknown : RunMark::stopped;
  }
}

std::string status_text(const RunView& run) {
  const std::string duration = duration_text(run.duration_s());
  if (run.status() == RunStatus::running) return "running for " + duration;
  if (std::string reason = why_unfinished(run); !reason.empty()) return reason;
  if (!run.manifest().imported_format.empty()) return "imported, " + duration;
  return full_outcome_text(run.manifest(), run.status()) + " after " + duration;
}

std::string steps_line(const Training& training) {
  if (!training.count) return training.reason;
  std::string text = fmt::format("{}", *training.count);
  if (training.steps_per_s) text += fmt::format(", {}/s", number_text(*training.steps_per_s));
  const StepStatistics& statistics = training.statistics;
  if (statistics.p50_s) text += ", p50 " + duration_text(*statistics.p50_s);
  if (statistics.p99_s) text += ", p99 " + duration_text(*statistics.p99_s);
  if (statistics.throughput)
    text += fmt::format(", {} items/s", count_text(*statistics.throughput));
  for (const SetResults& results : training.results) {
    const std::string set = results.set == "train" ? "" : " (" + results.set + ")";
    if (results.loss) text += fmt::format("; loss{} {:.4g}", set, *results.loss);
    if (results.accuracy) text += fmt::format(", accuracy{} {:.4g}", set, *results.accuracy);
  }
  return text;
}

std::string recording_line(const RunView& run) {
  const Sampling& sampling = run.sampling();
  std::string text = sampling_text(sampling, Detail::summary);
  if (!sampling.gaps.empty()) {
    const Gap& last = sampling.gaps.back();
    text += fmt::format(", {}, the last at {}: {}",
                        counted(static_cast<int64_t>(sampling.gaps.size()), "gap"),
                        duration_text(last.from_s), last.reason);
  }
  return text;
}

// The place after the escape sequence that begins at `at`: ESC [ … letter; ESC ] … BEL or ESC \, a
// title or a link; of any other sequence, after the ESC.
size_t after_escape(std::string_view line, size_t at) {
  const char kind = at + 1 < line.size() ? line[at + 1] : '\0';
  if (kind == '[') {
    for (at += 2; at < line.size() && line[at] >= ' ' && line[at] < '@';) ++at;
    return at + 1;
  }
  if (kind != ']') return at + 1;
  const size_t end = line.find_first_of("\x07\x1b", at + 2);
  if (end == std::string_view::npos) return line.size();
  return line.substr(end).starts_with("\x1b\\") ? end + 2 : end + 1;
}

// Without escape sequences, which would be shown as text.
std::string without_escapes(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == '\x1b') {
      at = after_escape(line, at);
    } else {
      out += line[at++];
    }
  }
  return out;
}

// The newest of the files that hold the job's output.
std::vector<std::string> read_output(const std::string& run_path) {
  for (const char* name : {"output.2.log", "output.1.log", "output.log"}) {
    const std::string path = run_path + "/" + name;
    const auto fd = open_regular_file(path);
    if (!fd) continue;
    const auto size = file_size(*fd, path);
    std::string text;
    const size_t from = size && *size > kOutputBytes ? *size - kOutputBytes : 0;
    if (!size || !read_part(*fd, path, from, *size - from, text)) return {};
    return last_lines(text, kOutputLines);
  }
  return {};
}

// What the thread that reads the run tells the one that reads the job's processes: neither waits
// for the other.
class PostedPlace {
 public:
  void put(JobPlace place) {
    const std::lock_guard lock(mutex_);
    place_ = std::move(place);
  }
  std::optional<JobPlace> get() const {
    const std::lock_guard lock(mutex_);
    return place_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<JobPlace> place_;
};

// A run that is opened once and then followed. Used by one thread.
class FollowedRun {
 public:
  FollowedRun(std::string path, std::shared_ptr<PostedPlace> place)
      : path_(std::move(path)), place_(std::move(place)), follower_(path_, Followed::run) {}

  TopSnapshot read(const ViewRequest& request) {
    const Status updated = update();
    TopSnapshot snapshot;
    if (run_ != nullptr) {
      auto read = top_snapshot(*run_, request);
      if (read) {
        snapshot = std::move(*read);
        snapshot.output = read_output(path_);
      } else {
        snapshot.problem = read.error().message();
      }
    }
    if (!updated) snapshot.problem = updated.error().message();
    snapshot.is_final = is_complete_;
    return snapshot;
  }

 private:
  // A view of another time needs no new samples.
  Status update() {
    if (is_complete_ || monotonic_ns() < due_ns_) return {};
    const int64_t cpu_ns = thread_cpu_ns();
    Status polled = poll();
    due_ns_ =
        monotonic_ns() + std::max(kPollPauseNs, kPollPausePerCpu * (thread_cpu_ns() - cpu_ns));
    return polled;
  }

  Status poll() {
    TS_TRY(std::unique_ptr<RunView> newer, is_open_ ? follower_.read_new() : follower_.open());
    is_open_ = true;
    if (!follower_.is_running()) {
      TS_TRY(newer, open_run(path_));
      is_complete_ = true;
    }
    if (newer == nullptr) return {};
    place_->put(job_place(*newer));
    const bool records_machine = newer->manifest().records_machine;
    run_ = records_machine ? std::move(newer) : with_machine_series(std::move(newer));
    return {};
  }

  const std::string path_;
  const std::shared_ptr<PostedPlace> place_;
  RunFollower follower_;
  std::unique_ptr<RunView> run_;
  bool is_open_ = false, is_complete_ = false;
  int64_t due_ns_ = 0;
};

TopVerdict diagnose_now(const std::string& run_path) {
  TopVerdict verdict;
  auto opened = open_run(run_path);
  if (!opened) {
    verdict.text = "cannot be found: " + opened.error().message();
    return verdict;
  }
  const auto run = with_machine_series(std::move(*opened));
  if (run->duration_s() < kLeastTrainingS) {
    const bool is_running = run->status() == RunStatus::running;
    verdict.text =
        fmt::format("{}: too little was recorded", is_running ? "not known yet" : "cannot tell");
  } else if (const auto diagnosis = diagnose(*run)) {
    verdict = top_verdict(*diagnosis);
  } else {
    verdict.text = "cannot be found: " + diagnosis.error().message();
  }
  verdict.is_final = run->status() != RunStatus::running;
  return verdict;
}

}  // namespace

Result<TopSnapshot> top_snapshot(const RunView& run, const ViewRequest& request) {
  TopSnapshot snapshot;
  const Manifest& m = run.manifest();
  snapshot.id = m.id;
  snapshot.name = m.name;
  snapshot.command = m.imported_format.empty() ? command_text(m.command) : m.imported_path;
  snapshot.mark = mark_of(run);
  snapshot.status = status_text(run);
  snapshot.steps = steps_line(run.training());
  snapshot.recording = recording_line(run);
  const Sampling& sampling = run.sampling();
  snapshot.is_recording_faulty =
      sampling.missed > 0 || sampling.restarts > 0 || !sampling.gaps.empty();
  snapshot.is_running = run.status() == RunStatus::running;
  snapshot.duration_s = run.duration_s();
  snapshot.windows = windows_of(request, run.duration_s());
  for (const Gap& gap : sampling.gaps) {
    if (gap.to_s < snapshot.windows.begin_s || gap.from_s > snapshot.windows.end_s()) continue;
    snapshot.gaps.emplace_back(gap.from_s, gap.to_s);
  }
  snapshot.panel = request.panel;
  if (request.panel == Panel::none) {
    TS_TRY(TopRows rows, read_top_rows(run, request, snapshot.windows));
    snapshot.rows = std::move(rows.rows);
    snapshot.left_out = rows.left_out;
    snapshot.no_rows = rows.reason;
  } else {
    TS_TRY(TopThreads threads, read_top_threads(run, request, snapshot.windows));
    snapshot.threads = std::move(threads.rows);
    snapshot.no_threads = threads.reason;
  }
  TS_TRY(snapshot.job, job_line(run, snapshot.windows));
  return snapshot;
}

TopVerdict top_verdict(const Diagnosis& diagnosis) {
  TopVerdict verdict;
  verdict.text = answer_text(diagnosis);
  if (diagnosis.findings.empty()) return verdict;
  const Finding& first = diagnosis.findings.front();
  verdict.severity = first.severity == "critical"  ? Severity::critical
                     : first.severity == "warning" ? Severity::warning
                                                   : Severity::info;
  verdict.advice = first.advice;
  return verdict;
}

std::vector<std::string> last_lines(std::string_view text, size_t most) {
  std::vector<std::string> lines;
  for (std::string_view line : split(text, '\n')) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    const size_t begin = line.rfind('\r');
    if (begin != std::string_view::npos) line.remove_prefix(begin + 1);
    std::string shown = without_escapes(line);
    if (!trim(shown).empty()) lines.push_back(std::move(shown));
  }
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<long>(most));
  return lines;
}

TopSource top_source(const std::string& run_path) {
  const auto place = std::make_shared<PostedPlace>();
  const auto run = std::make_shared<FollowedRun>(run_path, place);
  const auto reader = std::make_shared<JobProcessReader>();
  return {[run](const ViewRequest& request) { return run->read(request); },
          [run_path] { return diagnose_now(run_path); },
          [place, reader](const ProcessRequest& request) {
            const auto known = place->get();
            TopProcesses none;
            none.is_final = !request.is_wanted;
            if (none.is_final || !known) return none;
            return reader->read(*known, request.filter, monotonic_ns());
          }};
}

}  // namespace trainscope
