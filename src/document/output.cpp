#include "document/output.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "base/fd.h"
#include "base/json.h"
#include "model/training.h"

namespace trainscope {

namespace {

constexpr const char* kOutputFiles[] = {"output.log", "output.1.log", "output.2.log"};
constexpr size_t kOutputChunk = size_t{1} << 20;
constexpr size_t kLinesPerPlace = 64;
constexpr size_t kMostLineBytes = 2000;
constexpr size_t kMostAnchors = size_t{1} << 16;

using TakeLine = std::function<bool(size_t offset, std::string_view line)>;

// Each line of a file from an offset on, until one is refused. Of a very long one only the
// beginning is given.
Status visit_lines(const std::string& path, size_t from, const TakeLine& take) {
  TS_TRY(const UniqueFd fd, open_regular_file(path));
  std::string chunk, line;
  size_t line_offset = from;
  for (size_t offset = from;; offset += chunk.size()) {
    TS_CHECK_OK(read_part(fd, path, offset, kOutputChunk, chunk));
    if (chunk.empty()) break;
    size_t begin = 0;
    for (size_t end; (end = chunk.find('\n', begin)) != std::string::npos; begin = end + 1) {
      line.append(chunk, begin, std::min(end - begin, 2 * kMostLineBytes));
      if (!take(line_offset, line)) return {};
      line.clear();
      line_offset = offset + end + 1;
    }
    if (line.size() < 2 * kMostLineBytes) line.append(chunk, begin, 2 * kMostLineBytes);
  }
  if (!line.empty()) take(line_offset, line);
  return {};
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
  PrintedSteps steps(run.training());
  for (const char* const name : kOutputFiles) {
    const std::string path = run.path() + "/" + name;
    if (!exists(path)) continue;
    index.paths_.push_back(path);
    const size_t file = index.paths_.size() - 1;
    TS_CHECK_OK(visit_lines(path, 0, [&](size_t offset, std::string_view line) {
      if (index.lines_ % kLinesPerPlace == 0 || offset == 0) {
        index.places_.push_back({file, offset, index.lines_});
      }
      const auto time_s = steps.time_of(line);
      if (time_s && index.anchors_.size() < kMostAnchors) {
        index.anchors_.push_back({index.lines_, *time_s});
      }
      ++index.lines_;
      index.bytes_ += line.size() + 1;
      return true;
    }));
  }
  return index;
}

std::optional<double> OutputIndex::time_of(size_t line) const {
  if (anchors_.empty()) return std::nullopt;
  const auto after =
      std::lower_bound(anchors_.begin(), anchors_.end(), line,
                       [](const Anchor& anchor, size_t wanted) { return anchor.line < wanted; });
  if (after == anchors_.end()) return anchors_.back().time_s;
  if (after == anchors_.begin() || after->line == line) return after->time_s;
  const Anchor& before = *(after - 1);
  const double share =
      static_cast<double>(line - before.line) / static_cast<double>(after->line - before.line);
  return before.time_s + share * (after->time_s - before.time_s);
}

size_t OutputIndex::line_at(double time_s) const {
  const auto after =
      std::upper_bound(anchors_.begin(), anchors_.end(), time_s,
                       [](double wanted, const Anchor& anchor) { return wanted < anchor.time_s; });
  if (after == anchors_.begin()) return 0;
  const Anchor& before = *(after - 1);
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
  for (size_t file = place->file; file < paths_.size() && found.size() < count; ++file) {
    TS_CHECK_OK(visit_lines(paths_[file], offset, [&](size_t, std::string_view text) {
      if (line++ >= first) found.push_back(shown_line(text));
      return found.size() < count;
    }));
    offset = 0;
  }
  return found;
}

Result<Json> OutputIndex::lines(std::optional<double> at_s, size_t count) const {
  const bool has_times = !anchors_.empty();
  std::optional<size_t> at;
  size_t first = lines_ > count ? lines_ - count : 0;
  if (at_s && has_times) {
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
              {"times", has_times ? "estimated" : "unknown"}};
}

}  // namespace trainscope
