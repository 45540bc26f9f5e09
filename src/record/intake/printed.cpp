#include "record/intake/printed.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "record/intake/compiled_format.h"
#include "record/intake/steps_guess.h"

namespace trainscope {

namespace {

constexpr size_t kMaxLineBytes = 4096;
constexpr size_t kLinesPerCharge = 16;  // reading the clock costs as much as a common line
constexpr size_t kLongLineBytes = 512;
constexpr char kEscape = '\x1b';

struct NumberGroup {
  std::string_view group, name;
  double factor = 1;
};
constexpr NumberGroup kTrainingNumbers[] = {
    {"loss", "loss"}, {"accuracy", "accuracy"}, {"percent", "accuracy", 0.01},
    {"lr", "lr"},     {"loss_d", "loss_d"},     {"loss_g", "loss_g"}};
constexpr NumberGroup kHeldOutNumbers[] = {{"val_loss", "val_loss"},
                                           {"val_accuracy", "val_accuracy"},
                                           {"val_percent", "val_accuracy", 0.01},
                                           {"test_loss", "test_loss"},
                                           {"test_accuracy", "test_accuracy"},
                                           {"test_percent", "test_accuracy", 0.01}};
constexpr NumberGroup kStepNumbers[] = {
    {"throughput", "throughput"}, {"seconds", "duration"}, {"item", "item"}, {"items", "items"}};

// Of a line that was cut, the last word may be half a number.
std::string_view whole_words(std::string_view line) {
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+' ||
           c == '_';
  };
  if (line.size() < kMaxLineBytes) return line;
  while (!line.empty() && is_of_word(line.back())) line.remove_suffix(1);
  return line;
}

void add_numbers(const PrintedMatch& match, std::span<const NumberGroup> groups, Report& report) {
  for (const auto& [group, name, factor] : groups) {
    if (const auto value = match.find(group)) report.numbers.emplace_back(name, *value * factor);
  }
}

Report held_out_numbers(const PrintedMatch& match) {
  Report report;
  add_numbers(match, kHeldOutNumbers, report);
  const auto right = match.find("test_right"), all = match.find("test_all");
  if (right && all && *all > 0) report.numbers.emplace_back("test_accuracy", *right / *all);
  return report;
}

void add_scalars(const Report& numbers, int64_t time_ns, ProgressSink::Batch& batch) {
  for (const auto& [name, value] : numbers.numbers) {
    Report scalar;
    scalar.kind = Report::Kind::scalar;
    const auto [plain, set] = without_set_prefix(name);
    scalar.name = plain;
    scalar.set = set;
    scalar.value = value;
    batch.add(time_ns, kOutput, std::move(scalar));
  }
}

// An integer that can be the number of a step.
std::optional<int64_t> whole(const std::optional<double>& number) {
  if (!number || !(*number >= 0 && *number < 9e15)) return std::nullopt;
  return std::llround(*number);
}

bool names_step(const CompiledFormat& format) {
  return format.has_group("step") || format.has_group("index") || format.has_group("item");
}

// Where lines end: at a newline, and where a bar is redrawn. Each is searched for once per chunk,
// with memchr: by far the fastest for lines of any length.
class LineEnds {
 public:
  explicit LineEnds(std::string_view bytes) : bytes_(bytes) {
    for (size_t i = 0; i < kEnds.size(); ++i) next_[i] = bytes_.find(kEnds[i]);
  }
  // The first at or after `from`; npos: none.
  size_t find(size_t from) {
    for (size_t i = 0; i < kEnds.size(); ++i) {
      if (next_[i] < from) next_[i] = bytes_.find(kEnds[i], from);
    }
    return *std::min_element(next_.begin(), next_.end());
  }

 private:
  static constexpr std::array<char, 3> kEnds = {'\n', '\r', '\b'};
  std::string_view bytes_;
  std::array<size_t, kEnds.size()> next_{};
};

// Eight bytes at a time; a tab counts too.
bool may_have_control(std::string_view line) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHigh = 0x80 * kOnes, kSpaces = ' ' * kOnes;
  size_t i = 0;
  for (; i + 8 <= line.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, line.data() + i, sizeof word);
    if (((word - kSpaces) & ~word & kHigh) != 0) return true;
  }
  return std::any_of(line.begin() + static_cast<std::ptrdiff_t>(i), line.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

bool is_control(char c) { return c != '\t' && static_cast<unsigned char>(c) < ' '; }

bool ends_in_gap(std::string_view line) {
  return line.ends_with(kOutputGap.substr(0, kOutputGap.size() - 1));
}

bool has_digit(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
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
      plain += is_control(c) ? ' ' : c;
    }
  }
  return plain;
}

PrintedSteps::PrintedSteps(ProgressSink& sink, const std::string& own_pattern,
                           MatchingBudget& budget, SharedLine* kept, StepsGuess* guess)
    : sink_(sink), budget_(budget), kept_(kept), guess_(guess) {
  take_up_state();
  if (!own_pattern.empty()) {
    formats_.push_back({{}, own_pattern, nullptr});
    return;
  }
  for (const PrintedFormat& format : printed_formats()) {
    formats_.push_back({format, expand_placeholders(format.pattern), nullptr});
  }
}

PrintedSteps::~PrintedSteps() = default;

const CompiledFormat& PrintedSteps::compiled(Candidate& candidate) {
  if (!candidate.compiled) {
    auto compiled = CompiledFormat::compile(candidate.format, candidate.pattern);
    CHECK(static_cast<bool>(compiled));  // one of --steps-from was checked before the job began
    candidate.compiled = std::make_unique<CompiledFormat>(std::move(*compiled));
  }
  return *candidate.compiled;
}

std::array<PrintedSteps::KeptNumber, 13> PrintedSteps::kept_numbers() {
  return {{{epoch_, kept_->epoch},
           {bar_.length, kept_->bar_length},
           {bar_.step, kept_->bar_step},
           {bar_.outer, kept_->bar_outer},
           {bar_.outer_step, kept_->bar_outer_step},
           {bar_.replaced, kept_->bar_replaced},
           {bar_.rejected, kept_->bar_rejected},
           {first_round_, kept_->first_round},
           {last_round_, kept_->last_round},
           {counts_from_zero_, kept_->counts_from_zero},
           {next_loss_, kept_->next_loss},
           {next_accuracy_, kept_->next_accuracy},
           {next_lr_, kept_->next_lr}}};
}

void PrintedSteps::keep_state() {
  if (kept_ == nullptr) return;
  kept_->size = 0;  // half a line is worse than none
  line_.copy(kept_->text, SharedLine::kBytes);
  kept_->time_ns = time_ns_;
  for (const auto& [here, shared] : kept_numbers()) shared = here.value_or(SharedLine::kNothing);
  kept_->size = static_cast<uint32_t>(std::min(line_.size(), SharedLine::kBytes));
}

void PrintedSteps::take_up_state() {
  if (kept_ == nullptr) return;
  line_.assign(kept_->text, std::min<size_t>(kept_->size, SharedLine::kBytes));
  time_ns_ = kept_->time_ns;
  for (const auto& [here, shared] : kept_numbers()) {
    const double number = shared;
    here = std::isnan(number) ? std::nullopt : std::optional(number);
  }
}

void PrintedSteps::take(std::string_view bytes, int64_t since_zero_ns) {
  ProgressSink::Batch batch;
  budget_.begin(since_zero_ns);
  chunk_begin_ = line_.size();
  LineEnds ends(bytes);
  size_t lines = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = ends.find(at);
    const std::string_view part = bytes.substr(at, end - at);
    if (!part.empty()) time_ns_ = since_zero_ns;
    line_ += part.substr(0, kMaxLineBytes - std::min(line_.size(), kMaxLineBytes));
    if (end == std::string_view::npos) break;
    const bool was_in_gap = std::exchange(is_in_gap_, ends_in_gap(line_) || ends_in_gap(part));
    if (was_in_gap || is_in_gap_) {
      clear_line();
    } else {
      end_line(batch);
    }
    if (++lines % kLinesPerCharge == 0) budget_.charge();
    at = end + 1;
  }
  budget_.charge();
  sink_.push(batch);
  keep_state();
}

void PrintedSteps::finish(bool is_cut) {
  ProgressSink::Batch batch;
  if (is_cut || is_in_gap_) {
    clear_line();
  } else {
    end_line(batch);
  }
  sink_.push(batch);
  keep_state();
}

// Bytes before this chunk may belong to the other stream, whose line has not ended yet.
void PrintedSteps::end_line(ProgressSink::Batch& batch) {
  const std::string_view line = whole_words(line_);
  if (has_digit(line_)) {
    if (!budget_.allows_line()) {
      ++counts_.skipped;
    } else {
      const std::string_view of_chunk = line.substr(std::min(chunk_begin_, line.size()));
      const bool is_known =
          take_line(line, batch) || (chunk_begin_ > 0 && take_line(of_chunk, batch));
      if (!is_known && line_.size() >= kMaxLineBytes) ++counts_.cut;
      if (!is_known && guess_ != nullptr) guess_->observe(line);
    }
  }
  clear_line();
}

void PrintedSteps::clear_line() {
  line_.clear();
  chunk_begin_ = 0;
}

bool PrintedSteps::take_line(std::string_view line, ProgressSink::Batch& batch) {
  std::string plain;
  if (may_have_control(line)) line = plain = plain_line(line);
  PrintedMatch match;
  bool is_costly = false, is_searched = false;
  for (Candidate& candidate : formats_) {
    if (!may_match(candidate.format, line)) continue;
    is_searched = true;
    const Pattern::Answer answer = compiled(candidate).match(line, match);
    if (answer == Pattern::Answer::yes) {
      ++counts_.matched;
      add_reports(*candidate.compiled, match, batch);
      return true;
    }
    is_costly |= answer == Pattern::Answer::too_costly;
  }
  if (is_costly) ++counts_.costly;
  if (is_searched && line.size() > kLongLineBytes) budget_.charge();
  return false;
}

bool PrintedSteps::is_bar_of_training(const PrintedMatch& match, PrintedFormat::Kind kind) {
  const auto of = match.find("of"), step = match.find("step");
  if (!of || !step) return true;
  return kind == PrintedFormat::Kind::bar_of_epoch ? bar_.accepts_announced(*step, *of)
                                                   : bar_.accepts(*step, *of);
}

// A booster that stops early prints its best round once more; another booster begins with the first
// number again.
bool PrintedSteps::is_next_round(const PrintedMatch& match) {
  const auto round = match.find("step");
  if (last_round_ && round && *round <= *last_round_ && round != first_round_) return false;
  if (!first_round_) first_round_ = round;
  last_round_ = round;
  return true;
}

// Counted from 1: "0 of 100" would else be a bar at its begin.
std::optional<double> PrintedSteps::step_number(const PrintedFormat& format,
                                                const PrintedMatch& match) {
  const auto index = match.find("index"), step = match.find("step");
  if (index) return *index + 1;
  if (!step || !format.may_count_from_zero || !match.find("of")) return step;
  if (*step == 0) counts_from_zero_ = 1;
  // "1000/1000" after "0/1000": the total is reached, so numbers are those of steps that are done.
  if (*step == match.find("of")) counts_from_zero_ = 0;
  return *step + counts_from_zero_.value_or(0);
}

bool PrintedSteps::is_of_training(const PrintedMatch& match, PrintedFormat::Kind kind) {
  switch (kind) {
    case PrintedFormat::Kind::bar:
    case PrintedFormat::Kind::bar_of_epoch:
      return is_bar_of_training(match, kind);
    case PrintedFormat::Kind::rounds:
      return is_next_round(match);
    default:
      return true;
  }
}

void PrintedSteps::add_reports(const CompiledFormat& format, const PrintedMatch& match,
                               ProgressSink::Batch& batch) {
  using FormatKind = PrintedFormat::Kind;
  const FormatKind kind = format.format().kind;
  if (kind == FormatKind::epoch_begins) {
    epoch_ = match.find("epoch");
    bar_.begin_epoch();
    return;
  }
  if (!is_of_training(match, kind)) return;
  Report report;
  add_numbers(match, kTrainingNumbers, report);
  const Report held_out = held_out_numbers(match);
  const auto number = step_number(format.format(), match), of = match.find("of");
  auto epoch = match.find("epoch") ? match.find("epoch") : epoch_;
  if (!epoch && kind == FormatKind::bar_of_epoch) epoch = 1;  // a single epoch is not announced
  const bool epoch_alone =
      kind == FormatKind::epoch_ends || (format.has_group("epoch") && !names_step(format));
  // The last line of an epoch has the numbers of the whole epoch.
  if (epoch_alone || (epoch && of && number == of)) {
    Report over = report;
    over.kind = Report::Kind::epoch;
    over.number = whole(epoch);
    over.numbers.insert(over.numbers.end(), held_out.numbers.begin(), held_out.numbers.end());
    batch.add(time_ns_, kOutput, std::move(over));
    if (epoch_alone) return;
  } else {
    add_scalars(held_out, time_ns_, batch);
  }
  if (kind == FormatKind::numbers && bar_.length) {
    return keep_for_next_step(report);
  }
  if (kind == FormatKind::numbers) return add_scalars(report, time_ns_, batch);
  const auto step = whole(number);
  const bool has_number = format.has_group("step") || format.has_group("index");
  if (has_number && !step) return take_kept(nullptr);
  add_step(match, step, epoch, std::move(report), batch);
}

void PrintedSteps::keep_for_next_step(const Report& numbers) {
  next_loss_ = numbers.find("loss");
  next_accuracy_ = numbers.find("accuracy");
  next_lr_ = numbers.find("lr");
}

void PrintedSteps::take_kept(Report* step) {
  const auto move_to = [step](std::optional<double>& number, const char* name) {
    if (number && step != nullptr) step->numbers.emplace_back(name, *number);
    number.reset();
  };
  move_to(next_loss_, "loss");
  move_to(next_accuracy_, "accuracy");
  move_to(next_lr_, "lr");
}

void PrintedSteps::add_step(const PrintedMatch& match, std::optional<int64_t> step,
                            std::optional<double> epoch, Report report,
                            ProgressSink::Batch& batch) {
  take_kept(&report);
  report.number = step;
  add_numbers(match, kStepNumbers, report);
  if (epoch) report.numbers.emplace_back("epoch", *epoch);
  if (const auto of = match.find("of")) report.numbers.emplace_back("of", *of);
  batch.add(time_ns_, kOutput, std::move(report));
}

}  // namespace trainscope
