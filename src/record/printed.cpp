#include "record/printed.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"
#include "record/compiled_format.h"

namespace trainscope {

namespace {

constexpr size_t kMaxLineBytes = 4096;
constexpr int64_t kMaxLinesPerSecond = 2000;
constexpr char kEscape = '\x1b';

void add_group(const PrintedMatch& match, std::string_view group, std::string_view name,
               double factor, Report& report) {
  if (const auto value = match.find(group)) report.numbers.emplace_back(name, *value * factor);
}

void add_scalars(const Report& numbers, int64_t time_ns, ProgressSink::Batch& batch) {
  for (const auto& [name, value] : numbers.numbers) {
    Report scalar;
    scalar.kind = Report::Kind::scalar;
    const bool of_validation = name.starts_with("val_");
    scalar.name = of_validation ? name.substr(4) : name;
    if (of_validation) scalar.set = "validation";
    scalar.value = value;
    batch.add(time_ns, "output", std::move(scalar));
  }
}

// A whole number that a step may have.
std::optional<int64_t> whole(const std::optional<double>& number) {
  if (!number || !(*number >= 0 && *number < 9e15)) return std::nullopt;
  return std::llround(*number);
}

}  // namespace

std::string plain_line(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == kEscape && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
    } else {
      plain += c == '\t' || static_cast<unsigned char>(c) >= ' ' ? c : ' ';
    }
  }
  return plain;
}

PrintedSteps::PrintedSteps(ProgressSink& sink, const std::string& own_pattern, SharedLine* kept)
    : sink_(sink), kept_(kept) {
  take_up_state();
  if (!own_pattern.empty()) {
    auto own = CompiledFormat::compile({}, own_pattern);
    if (own) formats_.push_back(std::move(*own));  // it was checked before the job began
    return;
  }
  for (const PrintedFormat& format : printed_formats()) {
    auto compiled = CompiledFormat::compile(format, written_out(format.pattern));
    CHECK(static_cast<bool>(compiled));
    formats_.push_back(std::move(*compiled));
  }
}

PrintedSteps::~PrintedSteps() = default;

void PrintedSteps::keep_state() const {
  if (kept_ == nullptr) return;
  kept_->size = 0;  // half a line is worse than none
  line_.copy(kept_->text, SharedLine::kBytes);
  kept_->time_ns = time_ns_;
  kept_->epoch = epoch_.value_or(SharedLine::kNothing);
  kept_->bar_of = bar_of_.value_or(SharedLine::kNothing);
  kept_->bar_step = bar_step_.value_or(SharedLine::kNothing);
  kept_->size = static_cast<uint32_t>(std::min(line_.size(), SharedLine::kBytes));
}

void PrintedSteps::take_up_state() {
  if (kept_ == nullptr) return;
  const auto known = [](double number) {
    return std::isnan(number) ? std::nullopt : std::optional(number);
  };
  line_.assign(kept_->text, std::min<size_t>(kept_->size, SharedLine::kBytes));
  time_ns_ = kept_->time_ns;
  epoch_ = known(kept_->epoch);
  bar_of_ = known(kept_->bar_of);
  bar_step_ = known(kept_->bar_step);
}

void PrintedSteps::take(std::string_view bytes, int64_t since_zero_ns) {
  ProgressSink::Batch batch;
  chunk_begin_ = line_.size();
  for (const char c : bytes) {
    if (c == '\n' || c == '\r' || c == '\b') {
      end_line(batch);
      continue;
    }
    if (line_.size() < kMaxLineBytes) line_ += c;
    time_ns_ = since_zero_ns;
  }
  sink_.push(batch);
  keep_state();
}

void PrintedSteps::finish() {
  ProgressSink::Batch batch;
  end_line(batch);
  sink_.push(batch);
}

// What came before this chunk may be the other stream's, whose line has no end yet.
void PrintedSteps::end_line(ProgressSink::Batch& batch) {
  const std::string_view line = line_;
  if (!line.empty() && !take_line(line, batch) && chunk_begin_ > 0) {
    take_line(line.substr(std::min(chunk_begin_, line.size())), batch);
  }
  line_.clear();
  chunk_begin_ = 0;
}

bool PrintedSteps::within_rate() {
  const int64_t second = time_ns_ / kNsPerSecond;
  if (second != second_) lines_in_second_ = 0;
  second_ = second;
  return ++lines_in_second_ <= kMaxLinesPerSecond;
}

bool PrintedSteps::take_line(std::string_view line, ProgressSink::Batch& batch) {
  const bool has_digit =
      std::any_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!has_digit) return false;
  if (!within_rate()) {
    ++lines_skipped_;
    return false;
  }
  const std::string plain = plain_line(line);
  for (const auto& format : formats_) {
    const auto match = format.match(plain);
    if (!match) continue;
    add_reports(format, *match, batch);
    return true;
  }
  return false;
}

// Keras shows an evaluation by the same bar: one that follows a whole bar with no "Epoch 2/5"
// between, or has another length.
bool PrintedSteps::is_of_training(const PrintedMatch& match, PrintedFormat::Is is) {
  const auto of = match.find("of"), step = match.find("step");
  if (!of || !step) return true;
  if (!bar_of_) bar_of_ = of;
  const bool whole = bar_step_ && *bar_step_ == *bar_of_;
  const bool begins_alone = is == PrintedFormat::Is::bar_of_epoch && whole && *step < *of;
  if (*of != *bar_of_ || begins_alone) return false;
  bar_step_ = step;
  return true;
}

void PrintedSteps::add_reports(const CompiledFormat& format, const PrintedMatch& match,
                               ProgressSink::Batch& batch) {
  using Is = PrintedFormat::Is;
  const Is is = format.format().is;
  if (is == Is::epoch_begins) {
    epoch_ = match.find("epoch");
    bar_of_.reset();
    bar_step_.reset();
    return;
  }
  const bool is_bar = is == Is::bar || is == Is::bar_of_epoch;
  if (is_bar && !is_of_training(match, is)) return;
  Report report;
  add_group(match, "loss", "loss", 1, report);
  add_group(match, "accuracy", "accuracy", 1, report);
  add_group(match, "percent", "accuracy", 0.01, report);
  Report validation;
  add_group(match, "val_loss", "val_loss", 1, validation);
  add_group(match, "val_accuracy", "val_accuracy", 1, validation);
  add_group(match, "val_percent", "val_accuracy", 0.01, validation);
  const auto step = whole(match.find("step"));
  const auto of = match.find("of");
  auto epoch = match.find("epoch") ? match.find("epoch") : epoch_;
  if (!epoch && is == Is::bar_of_epoch) epoch = 1;  // of a single one nothing is said
  const bool epoch_alone = format.has_group("epoch") && !format.has_group("step");
  // The last line of an epoch has the numbers of the whole epoch.
  if (epoch_alone || (epoch && of && match.find("step") == of)) {
    Report over = report;
    over.kind = Report::Kind::epoch;
    over.number = whole(epoch);
    over.numbers.insert(over.numbers.end(), validation.numbers.begin(), validation.numbers.end());
    batch.add(time_ns_, "output", std::move(over));
    if (epoch_alone) return;
  } else {
    add_scalars(validation, time_ns_, batch);
  }
  if (is == Is::numbers && bar_of_) {
    waiting_ = report;
    return;
  }
  if (is == Is::numbers) return add_scalars(report, time_ns_, batch);
  report.numbers.insert(report.numbers.end(), waiting_.numbers.begin(), waiting_.numbers.end());
  waiting_.numbers.clear();
  if (format.has_group("step") && !step) return;
  report.number = step;
  add_group(match, "throughput", "throughput", 1, report);
  add_group(match, "seconds", "duration", 1, report);
  if (epoch) report.numbers.emplace_back("epoch", *epoch);
  if (of) report.numbers.emplace_back("of", *of);
  batch.add(time_ns_, "output", std::move(report));
}

}  // namespace trainscope
