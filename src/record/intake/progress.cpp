#include "record/intake/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/text.h"
#include "record/record.h"
#include "record/sample/ring.h"
#include "training/training.h"

namespace trainscope {

namespace {

constexpr size_t kShownBytes = 80;
constexpr int kPipeReadsAtOnce = 16;
// A sender's timestamp may be slightly later than our reading of the clock.
constexpr int64_t kTimestampToleranceNs = kNsPerSecond;

}  // namespace

void ProgressSink::Batch::add(int64_t time_ns, std::string_view source, Report report) {
  if (report.kind == Report::Kind::mark) {
    marks_.emplace_back(time_ns, std::move(report.name));
    return;
  }
  // In a line of the pipe it is malformed, and event files count it.
  if (report.number && *report.number > kMaxReportNumber) return;
  if (report.kind == Report::Kind::step && report.who.empty() && report.number) {
    last_step_ = *report.number;
  }
  for (auto& [name, value] : report.numbers) {
    // Those are the line's own keys.
    if (name == "t" || name == "who" || name == "set") name += "_";
  }
  lines_ += format_stored_report(time_ns, source, report);
  ++count_;
  if (report.kind == Report::Kind::step) steps_.push_back({time_ns, source, std::move(report)});
}

void ProgressSink::push(const Batch& batch) {
  for (const auto& [time_ns, text] : batch.marks_) {
    push_event(ring_, time_ns, "mark", text);
    const bool is_of_probe = memory_->is_probe != 0 && text.starts_with(kProbedMark);
    if (is_of_probe || text.starts_with(kInstrumentedMark)) ++memory_->instrumented_processes;
    if (is_of_probe && text == kProbeFinishedMark) memory_->has_probe_finished = 1;
  }
  if (batch.count_ == 0) return;
  const std::lock_guard lock(mutex_);
  const int64_t number = memory_->next_report;
  SharedSteps& steps = memory_->steps;
  steps.begin();
  const bool is_stored =
      has_room() && ring_.push_text(RecordKind::step, fmt::format("{}\n", number) + batch.lines_);
  if (is_stored) {
    memory_->next_report = number + batch.count_;
    for (const auto& [time_ns, source, report] : batch.steps_) steps.add(time_ns, source, report);
    if (batch.last_step_ >= 0) memory_->step = batch.last_step_;
  } else {
    memory_->refused_reports += batch.count_;
  }
  steps.end();
}

bool ProgressPipe::read_some() {
  std::array<char, 65536> bytes;  // NOLINT: filled by read
  has_backlog_ = false;
  timed_ = untimed_ = 0;
  for (int i = 0; i < kPipeReadsAtOnce; ++i) {
    if (!sink_.has_room()) {
      refuse_some();
      return false;
    }
    const ssize_t n = ::read(fd_, bytes.data(), bytes.size());
    if (n <= 0) return true;
    take({bytes.data(), static_cast<size_t>(n)}, monotonic_ns());
  }
  has_backlog_ = true;
  return true;
}

// A shell has to wait if the pipe is full: lines must be taken before that, stored or not.
void ProgressPipe::refuse_some() {
  std::array<char, 65536> bytes;  // NOLINT: filled by read
  const int capacity = ::fcntl(fd_, F_GETPIPE_SZ);
  for (int waiting = 0; ::ioctl(fd_, FIONREAD, &waiting) == 0 && waiting > capacity / 2;) {
    const ssize_t n = ::read(fd_, bytes.data(), bytes.size());
    if (n <= 0) return;
    const std::string_view lost(bytes.data(), static_cast<size_t>(n));
    const int64_t ends = std::count(lost.begin(), lost.end(), '\n');
    const bool is_cut = lost.back() != '\n';
    // A line that is cut is counted here; its rest comes with the next bytes.
    const bool is_rest_of_one = skipping_;
    memory_->refused_reports += ends + (is_cut ? 1 : 0) - (is_rest_of_one ? 1 : 0);
    rest_.clear();
    skipping_ = is_cut;
  }
}

void ProgressPipe::take(std::string_view bytes, int64_t now_ns) {
  ProgressSink::Batch batch;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(std::min(bytes.size(), part.size() + 1));
    if (!skipping_) rest_ += part;
    if (rest_.size() > kMaxReportBytes) {
      note_unreadable(rest_, "longer than 4,096 bytes", now_ns);
      rest_.clear();
      skipping_ = true;
    }
    if (end == std::string_view::npos) break;
    if (!skipping_) take_line(rest_, now_ns, batch);
    rest_.clear();
    skipping_ = false;
  }
  sink_.push(batch);
}

void ProgressPipe::take_line(std::string_view line, int64_t now_ns, ProgressSink::Batch& batch) {
  if (trim(line).empty()) return;
  auto report = parse_report(line);
  if (!report) return note_unreadable(line, report.error().message(), now_ns);
  ++(report->time_ns ? timed_ : untimed_);
  const int64_t time_ns = timestamp_of(*report, now_ns) - memory_->zero_ns;
  report->time_ns.reset();
  batch.add(std::max<int64_t>(0, time_ns), kPipe, std::move(*report));
}

// The sender's own timestamp, if it is plausible: one of another clock would stretch the run.
int64_t ProgressPipe::timestamp_of(const Report& report, int64_t now_ns) {
  if (!report.time_ns) return now_ns;
  const int64_t timestamp = *report.time_ns;
  if (timestamp >= memory_->zero_ns - kTimestampToleranceNs &&
      timestamp <= now_ns + kTimestampToleranceNs)
    return timestamp;
  if (!std::exchange(warned_bad_timestamp_, true)) {
    push_event(
        ring_, now_ns - memory_->zero_ns, "progress",
        fmt::format("t={} is not a CLOCK_MONOTONIC timestamp of this run in nanoseconds; the "
                    "time of arrival is used instead",
                    timestamp));
  }
  return now_ns;
}

void ProgressPipe::note_unreadable(std::string_view line, const std::string& reason,
                                   int64_t now_ns) {
  if (memory_->unreadable_reports++ > 0) return;
  push_event(ring_, now_ns - memory_->zero_ns, "progress",
             fmt::format("malformed line in the progress pipe ({}): {}", printable(reason),
                         printable(redact_text(line).substr(0, kShownBytes))));
}

namespace {

void add_printed_notes(const Shared& shared, bool from_own_pattern,
                       std::vector<std::string>& notes) {
  const int64_t matched = shared.matched_lines, costly = shared.costly_lines;
  if (costly > 0) {
    notes.push_back(fmt::format(
        "{} took too long and was stopped on {} of the printed lines: it may have missed steps "
        "there{}",
        from_own_pattern ? "the pattern of --steps-from" : "the search for steps", costly,
        from_own_pattern ? "; try one without a repetition inside a repetition" : ""));
  } else if (from_own_pattern && matched == 0 && shared.output_is_shared == 0) {
    notes.emplace_back("--steps-from matched none of the printed lines");
  }
  if (const int64_t cut = shared.cut_lines; cut > 0 && matched == 0) {
    notes.push_back(
        fmt::format("{} of the printed lines were longer than the 4,096 bytes that are searched "
                    "for steps; print the step at the beginning of the line",
                    cut));
  }
  if (const int64_t skipped = shared.skipped_lines; skipped > 0) {
    notes.push_back(fmt::format(
        "{} of the printed lines were not searched for steps: searching may take 1 % of a CPU; to "
        "report every step, use TRAINSCOPE_PIPE",
        skipped));
  }
  if (const int64_t unsearched = shared.output_unsearched; unsearched > 0) {
    notes.push_back(
        fmt::format("{} printed bytes were not searched for steps: the recorder, the run folder or "
                    "the reader of "
                    "the output did not keep up",
                    unsearched));
  }
}

}  // namespace

std::vector<std::string> progress_notes(const Shared& shared, bool from_own_pattern) {
  std::vector<std::string> notes;
  if (const int64_t unreadable = shared.unreadable_reports; unreadable > 0) {
    const std::string lines = unreadable == 1 ? "a line" : fmt::format("{} lines", unreadable);
    notes.push_back(lines +
                    " in the progress pipe could not be parsed; `trainscope info` shows the first");
  }
  if (const int64_t refused = shared.refused_reports; refused > 0) {
    notes.push_back(
        fmt::format("{} progress messages were lost: the memory for them was full", refused));
  }
  add_printed_notes(shared, from_own_pattern, notes);
  if (shared.output_is_shared != 0) {
    notes.emplace_back(
        "output.log may contain text that the job did not print: another process wrote to the same "
        "file");
  } else if (shared.output_may_be_shared != 0) {
    notes.emplace_back(
        "another process may have written to the output file: some of the printed lines may not be "
        "the job's");
  }
  return notes;
}

}  // namespace trainscope
