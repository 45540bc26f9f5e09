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
constexpr size_t kMaxListed = 16;
constexpr char kEscape = '\x1b';

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "accuracy: 0.87 - loss: 0.34" and "v_num=0, train_loss=0.31".
void add_listed(std::string_view text, Report& report) {
  size_t at = 0;
  while (at < text.size() && report.numbers.size() < kMaxListed) {
    const size_t mark = text.find_first_of(":=", at);
    if (mark == std::string_view::npos) return;
    size_t begin = mark;
    while (begin > at && is_word(text[begin - 1])) --begin;
    const std::string_view name = text.substr(begin, mark - begin);
    std::string_view value = trim(text.substr(mark + 1));
    value = value.substr(0, value.find_first_of(" ,]"));
    const auto number = parse_number(value);
    const bool named = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
    if (named && number) report.numbers.emplace_back(name, *number);
    at = mark + 1;
  }
}

void add_group(const PrintedMatch& match, std::string_view group, std::string_view name,
               double factor, Report& report) {
  if (const auto value = match.find(group)) report.numbers.emplace_back(name, *value * factor);
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
    } else if (c != '\b') {  // it only moves the cursor
      plain += c == '\t' || static_cast<unsigned char>(c) >= ' ' ? c : ' ';
    }
  }
  return plain;
}

PrintedSteps::PrintedSteps(ProgressSink& sink, const std::string& own_pattern) : sink_(sink) {
  if (!own_pattern.empty()) {
    auto own = CompiledFormat::compile({}, own_pattern);
    if (own) formats_.push_back(std::move(*own));  // it was checked before the job began
    return;
  }
  for (const PrintedFormat& format : printed_formats()) {
    auto compiled = CompiledFormat::compile(format, std::string(format.pattern));
    CHECK(static_cast<bool>(compiled));
    formats_.push_back(std::move(*compiled));
  }
}

PrintedSteps::~PrintedSteps() = default;

void PrintedSteps::take(std::string_view bytes, int64_t since_zero_ns) {
  ProgressSink::Batch batch;
  for (const char c : bytes) {
    if (c != '\n' && c != '\r') {
      if (line_.size() < kMaxLineBytes) line_ += c;
      continue;
    }
    take_line(line_, since_zero_ns, batch);
    line_.clear();
  }
  // A bar that is drawn over ends with no newline: its escape sequences or \r come with the next.
  sink_.push(std::move(batch));
}

bool PrintedSteps::within_rate(int64_t since_zero_ns) {
  const int64_t second = since_zero_ns / kNsPerSecond;
  if (second != second_) lines_in_second_ = 0;
  second_ = second;
  return ++lines_in_second_ <= kMaxLinesPerSecond;
}

void PrintedSteps::take_line(std::string_view line, int64_t since_zero_ns,
                             ProgressSink::Batch& batch) {
  const bool has_digit =
      std::any_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!has_digit) return;
  if (!within_rate(since_zero_ns)) {
    ++lines_skipped_;
    return;
  }
  const std::string plain = plain_line(line);
  for (const auto& format : formats_) {
    const auto match = format->match(plain);
    if (!match) continue;
    add_reports(*format, *match, since_zero_ns, batch);
    return;
  }
}

void PrintedSteps::add_reports(const CompiledFormat& format, const PrintedMatch& match,
                               int64_t since_zero_ns, ProgressSink::Batch& batch) {
  const bool tells_more = match.numbers.size() > 1 || !match.find("epoch");
  if (match.find("epoch") && !match.find("step") && !tells_more) {
    epoch_ = match.find("epoch");  // "Epoch 3/10": it begins
    return;
  }
  Report report;
  report.set = format.format().set;
  report.number = whole(match.find("step"));
  add_group(match, "loss", "loss", 1, report);
  add_group(match, "accuracy", "accuracy", 1, report);
  add_group(match, "percent", "accuracy", 0.01, report);
  add_group(match, "throughput", "throughput", 1, report);
  add_group(match, "seconds", "duration", 1, report);
  if (format.format().list) add_listed(match.rest, report);
  const auto epoch = match.find("epoch") ? match.find("epoch") : epoch_;
  const auto of = match.find("of");
  // The last line of an epoch has the numbers of the whole epoch.
  if (epoch && of && match.find("step") == of) {
    Report over = report;
    over.kind = Report::Kind::epoch;
    over.number = whole(epoch);
    batch.add(since_zero_ns, "output", over);
  }
  std::erase_if(report.numbers, [](const auto& each) { return each.first.starts_with("val_"); });
  if (epoch) report.numbers.emplace_back("epoch", *epoch);
  if (of) report.numbers.emplace_back("of", *of);
  batch.add(since_zero_ns, "output", report);
}

}  // namespace trainscope
