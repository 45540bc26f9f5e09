#include "document/output.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "format/format.h"
#include "model/training.h"

namespace trainscope {

namespace {

constexpr const char* kOutputFiles[] = {"output.log", "output.1.log", "output.2.log"};
constexpr size_t kOutputChunk = size_t{1} << 20;
constexpr size_t kLinesPerPlace = 64;
constexpr size_t kMostLineBytes = 2000;
constexpr size_t kMostAnchors = size_t{1} << 16;

constexpr size_t kMostTimesBytes = size_t{16} << 20;

struct OutputLine {
  size_t begin = 0, end = 0;  // in its file, without the newline
  std::string_view text;      // the beginning, if it is very long
  size_t last_byte() const { return end > begin ? end - 1 : begin; }
};
using TakeLine = std::function<bool(const OutputLine& line)>;

// Each line of the first `bytes` of a file from an offset on, until one is refused.
Status visit_lines(const std::string& path, size_t bytes, size_t from, const TakeLine& take) {
  TS_TRY(const UniqueFd fd, open_regular_file(path));
  std::string chunk, line;
  size_t begin = from;
  for (size_t offset = from; offset < bytes; offset += chunk.size()) {
    TS_CHECK_OK(read_part(fd, path, offset, std::min(kOutputChunk, bytes - offset), chunk));
    if (chunk.empty()) break;
    size_t at = 0;
    for (size_t end; (end = chunk.find('\n', at)) != std::string::npos; at = end + 1) {
      line.append(chunk, at, std::min(end - at, 2 * kMostLineBytes));
      if (!take({begin, offset + end, line})) return {};
      line.clear();
      begin = offset + end + 1;
    }
    if (line.size() < 2 * kMostLineBytes) line.append(chunk, at, 2 * kMostLineBytes);
  }
  if (!line.empty()) take({begin, bytes, line});
  return {};
}

// When the bytes of a part were read, asked for in their order.
class ReadTimes {
 public:
  ReadTimes(const std::string& path, int64_t zero_ns) : zero_ns_(zero_ns) {
    std::string bytes;
    const auto fd = open_regular_file(path);
    if (zero_ns <= 0 || !fd || !read_part(*fd, path, 0, kMostTimesBytes, bytes)) return;
    times_ = parse_output_times(bytes);
  }
  bool empty() const { return times_.empty(); }
  std::optional<OutputIndex::LineTime> of(size_t byte) {
    while (next_ < times_.size() && times_[next_].offset <= byte) ++next_;
    if (next_ == 0) return std::nullopt;
    const OutputTime& time = times_[next_ - 1];
    const double within_s = time.within_ns == kUnknownPause
                                ? std::numeric_limits<double>::infinity()
                                : to_seconds(time.within_ns);
    return OutputIndex::LineTime{to_seconds(time.time_ns - zero_ns_), within_s};
  }

 private:
  int64_t zero_ns_;
  std::vector<OutputTime> times_;
  size_t next_ = 0;
};

std::string why_late(const std::vector<Event>& events) {
  std::string reason;
  for (const Event& event : events) {
    if (event.kind == kOutputIsPolled) reason = event.text;
  }
  return reason;
}

bool has_number(std::string_view line, std::string_view number) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = line.find(number); at != line.npos; at = line.find(number, at + 1)) {
    const size_t end = at + number.size();
    const bool begins = at == 0 || (!is_digit(line[at - 1]) && line[at - 1] != '.');
    if (begins && (end == line.size() || !is_digit(line[end]))) return true;
  }
  return false;
}

// The printed steps one after the other, to be found in the lines.
class PrintedSteps {
 public:
  explicit PrintedSteps(const Training& training) {
    if (training.source != "output" || training.details == nullptr) return;
    reader_ = training.details->steps();
    next();
  }
  // The time of the step that this line is about, or nothing.
  std::optional<double> time_of(std::string_view line) {
    if (reader_ == nullptr || !has_number(line, number_)) return std::nullopt;
    const double time_s = step_.time_s;
    next();
    return time_s;
  }
  // The same of a line that was read then; earlier steps are in lines that are not there.
  std::optional<double> time_of(std::string_view line, const OutputIndex::LineTime& read) {
    constexpr double kSameTime = 1e-6;
    while (reader_ != nullptr && step_.time_s < read.time_s - kSameTime) next();
    return step_.time_s > read.time_s + read.within_s ? std::nullopt : time_of(line);
  }

 private:
  void next() {
    const auto has_step = reader_->next(step_);
    if (!has_step || !*has_step) {
      reader_ = nullptr;
      return;
    }
    number_ = std::to_string(step_.reported_number.value_or(step_.step));
  }

  std::unique_ptr<Reader<Step>> reader_;
  Step step_;
  std::string number_;
};

std::string shown_line(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const size_t last = line.rfind('\r');
  if (last != line.npos) line.remove_prefix(last + 1);
  return std::string(line.substr(0, kMostLineBytes));
}

}  // namespace

Result<OutputIndex> OutputIndex::read(const RunView& run) {
  OutputIndex index;
  std::vector<ReadTimes> times;
  for (const char* const name : kOutputFiles) {
    const std::string path = run.path() + "/" + name;
    if (!exists(path)) continue;
    TS_TRY(const UniqueFd fd, open_regular_file(path));
    TS_TRY(const size_t bytes, file_size(fd, path));
    index.files_.push_back({path, bytes});
    // After the size: a record is written before what it is about.
    times.emplace_back(run.path() + "/" + output_times_name(name),
                       run.manifest().zero_monotonic_ns);
    index.is_dated_ = index.is_dated_ || !times.back().empty();
  }
  index.late_ = why_late(run.events());
  PrintedSteps steps(run.training());
  for (size_t file = 0; file < index.files_.size(); ++file) {
    const File& each = index.files_[file];
    TS_CHECK_OK(visit_lines(each.path, each.bytes, 0, [&](const OutputLine& line) {
      if (index.lines_ % kLinesPerPlace == 0 || line.begin == 0) {
        index.places_.push_back({file, line.begin, index.lines_});
      }
      if (index.is_dated_) {
        const auto time = times[file].of(line.last_byte());
        index.add_read_time(time, time ? steps.time_of(line.text, *time) : std::nullopt);
      } else if (const auto time_s = steps.time_of(line.text);
                 time_s && index.anchors_.size() < kMostAnchors) {
        index.anchors_.push_back({index.lines_, *time_s});
      }
      ++index.lines_;
      index.bytes_ += line.text.size() + 1;
      return true;
    }));
  }
  return index;
}

// Of the next line; `printed_s`: of the step in it.
void OutputIndex::add_read_time(const std::optional<LineTime>& time,
                                std::optional<double> printed_s) {
  Anchor anchor{lines_, anchors_.empty() ? 0 : anchors_.back().time_s, 0, time.has_value()};
  if (time) {
    const bool is_exact = printed_s && anchors_.size() < kMostAnchors;
    anchor.time_s = std::max(anchor.time_s, is_exact ? *printed_s : time->time_s);
    anchor.within_s = time->within_s;
  }
  const bool is_new = anchors_.empty() || anchors_.back().is_known != anchor.is_known ||
                      anchors_.back().time_s != anchor.time_s;
  if (is_new) anchors_.push_back(anchor);
}

OutputIndex::Times OutputIndex::times() const {
  if (is_dated_) return Times::read;
  return anchors_.empty() ? Times::unknown : Times::estimated;
}

// The last one up to this line.
const OutputIndex::Anchor* OutputIndex::anchor_of(size_t line) const {
  const auto after =
      std::upper_bound(anchors_.begin(), anchors_.end(), line,
                       [](size_t wanted, const Anchor& anchor) { return wanted < anchor.line; });
  return after == anchors_.begin() ? nullptr : &*(after - 1);
}

std::optional<double> OutputIndex::time_of(size_t line) const {
  if (anchors_.empty()) return std::nullopt;
  const Anchor* const before = anchor_of(line);
  if (is_dated_) {
    return before == nullptr || !before->is_known ? std::nullopt : std::optional(before->time_s);
  }
  if (before == nullptr) return anchors_.front().time_s;
  if (before == &anchors_.back()) return before->time_s;
  const Anchor& after = *(before + 1);
  const double share =
      static_cast<double>(line - before->line) / static_cast<double>(after.line - before->line);
  return before->time_s + share * (after.time_s - before->time_s);
}

// The greatest of some lines.
Json OutputIndex::within_s(size_t first, size_t count) const {
  double within_s = 0;
  for (size_t line = first; is_dated_ && line < first + count; ++line) {
    const Anchor* const anchor = anchor_of(line);
    if (anchor != nullptr && anchor->is_known) within_s = std::max(within_s, anchor->within_s);
  }
  return is_dated_ && std::isfinite(within_s) ? Json(within_s) : Json(nullptr);
}

size_t OutputIndex::line_at(double time_s) const {
  auto after =
      std::upper_bound(anchors_.begin(), anchors_.end(), time_s,
                       [](double wanted, const Anchor& anchor) { return wanted < anchor.time_s; });
  while (after != anchors_.begin() && !(after - 1)->is_known) --after;
  if (after == anchors_.begin()) return 0;
  const Anchor& before = *(after - 1);
  // The last line that was there at this time.
  if (is_dated_) return (after == anchors_.end() ? lines_ : after->line) - 1;
  if (after == anchors_.end() || !(after->time_s > before.time_s)) return before.line;
  const double share = (time_s - before.time_s) / (after->time_s - before.time_s);
  return before.line + static_cast<size_t>(share * static_cast<double>(after->line - before.line));
}

Result<std::vector<std::string>> OutputIndex::read_lines(size_t first, size_t count) const {
  std::vector<std::string> found;
  auto place = std::upper_bound(places_.begin(), places_.end(), first,
                                [](size_t line, const Place& each) { return line < each.line; });
  if (place == places_.begin()) return found;
  --place;
  size_t line = place->line, offset = place->offset;
  for (size_t file = place->file; file < files_.size() && found.size() < count; ++file) {
    const File& each = files_[file];
    TS_CHECK_OK(visit_lines(each.path, each.bytes, offset, [&](const OutputLine& next) {
      if (line++ >= first) found.push_back(shown_line(next.text));
      return found.size() < count;
    }));
    offset = 0;
  }
  return found;
}

Result<Json> OutputIndex::lines(std::optional<double> at_s, size_t count) const {
  static constexpr const char* kTimesNames[] = {"unknown", "estimated", "read"};
  std::optional<size_t> at;
  size_t first = lines_ > count ? lines_ - count : 0;
  if (at_s && times() != Times::unknown) {
    at = std::min(line_at(*at_s), lines_ > 0 ? lines_ - 1 : 0);
    first = std::min(first, *at - std::min(*at, count / 2));
  }
  TS_TRY(const std::vector<std::string> texts, read_lines(first, count));
  Json list = Json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    list.push_back({{"time_s", value_or_null(time_of(first + i))}, {"text", texts[i]}});
  }
  return Json{{"lines", std::move(list)},
              {"at", at ? Json(*at - first) : Json(nullptr)},
              {"first_line", first},
              {"all_lines", lines_},
              {"more_before", first > 0},
              {"more_after", first + texts.size() < lines_},
              {"times", kTimesNames[static_cast<size_t>(times())]},
              {"within_s", within_s(first, texts.size())},
              {"late", is_dated_ && !late_.empty() ? Json(late_) : Json(nullptr)}};
}

}  // namespace trainscope
