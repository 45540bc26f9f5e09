#include "store/read/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "format/format.h"

namespace trainscope {

namespace {

// No report has a longer line (training/report.h).
constexpr size_t kMaxLineBytes = 8192;

std::string_view take_line(std::string_view& lines) {
  const std::string_view line = lines.substr(0, lines.find('\n'));
  lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  return line;
}

std::optional<int64_t> time_of(std::string_view line) {
  return parse_integer(line.substr(0, line.find(' ')));
}

// The order in which reports are given: by time, then as they were written.
struct Position {
  int64_t time_ns = 0;
  size_t frame = 0;
  auto operator<=>(const Position&) const = default;  // NOLINT: clang-tidy 14 sees a literal 0
};
constexpr Position kNever{INT64_MAX, SIZE_MAX};

// A line of a frame.
struct DatedLine {
  int64_t time_ns = 0;
  std::string_view rest;  // after the time and a space
};

// The lines of one frame, by time.
class OpenFrame {
 public:
  // `unreadable` counts lines without a time.
  static Result<std::unique_ptr<OpenFrame>> open(const ReportFrame& frame, size_t number,
                                                 int64_t& unreadable) {
    auto opened = std::make_unique<OpenFrame>();
    if (frame.text != nullptr) {
      opened->rest_ = *frame.text;
      opened->kept_bytes_ = frame.text->size();
    } else {
      TS_TRY(const std::string_view payload, frame.place.payload(opened->payload_));
      TS_TRY(opened->rest_, report_lines(payload, frame.place.flags, opened->text_));
    }
    opened->number_ = number;
    opened->unreadable_ = &unreadable;
    for (size_t i = 0; i < frame.skipped + 1; ++i) take_line(opened->rest_);  // and the number
    if (!frame.is_sorted) opened->sort();
    opened->advance();
    return opened;
  }

  bool is_over() const { return is_over_; }
  size_t bytes() const {
    return payload_.size() + text_.size() + kept_bytes_ + sorted_.size() * sizeof(DatedLine);
  }
  Position position() const { return {line_.time_ns, number_}; }
  DatedLine take() {
    const DatedLine line = line_;
    advance();
    return line;
  }

 private:
  void sort() {
    for (DatedLine line; take_next(line);) sorted_.push_back(line);
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const DatedLine& a, const DatedLine& b) { return a.time_ns < b.time_ns; });
  }

  void advance() {
    if (at_ < sorted_.size()) {
      line_ = sorted_[at_++];
    } else {
      is_over_ = !take_next(line_);
    }
  }

  // The next line with a time, as they were written.
  bool take_next(DatedLine& line) {
    while (!rest_.empty()) {
      const std::string_view text = take_line(rest_);
      const size_t space = std::min(text.find(' '), text.size());
      const auto time_ns = parse_integer(text.substr(0, space));
      if (time_ns && text.size() <= kMaxLineBytes) {
        line = {*time_ns, text.substr(std::min(space + 1, text.size()))};
        return true;
      }
      ++*unreadable_;
    }
    return false;
  }

  std::string payload_, text_;
  std::string_view rest_;          // of the text
  std::vector<DatedLine> sorted_;  // all lines, of a frame that is not in order
  size_t kept_bytes_ = 0;          // of a text that is not its own
  size_t number_ = 0, at_ = 0;
  int64_t* unreadable_ = nullptr;
  DatedLine line_;  // the next one
  bool is_over_ = false;
};

// Takes the lines of all frames, opening a frame when the first of its times is reached.
class ReportReader : public Reader<StoredReport> {
 public:
  ReportReader(std::span<const ReportFrame> frames, std::atomic<int64_t>& unreadable,
               size_t max_open_bytes, ReportsWanted wanted)
      : frames_(frames),
        unreadable_(unreadable),
        max_open_bytes_(max_open_bytes),
        wanted_(wanted),
        order_(frames.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](size_t a, size_t b) { return begin_of(a) < begin_of(b); });
  }

  Result<bool> next(StoredReport& stored) override {
    for (;;) {
      if (current_ == nullptr || current_->is_over() || next_position_ < current_->position()) {
        TS_CHECK_OK(change_frame());
        if (current_ == nullptr) {
          if (wanted_ == ReportsWanted::all) unreadable_ = bad_lines_;
          return false;
        }
      }
      const DatedLine line = current_->take();
      if (wanted_ == ReportsWanted::of_steps && !concerns_steps(line.rest)) continue;
      if (parse_stored_report(line.time_ns, line.rest, stored)) return true;
      ++bad_lines_;
    }
  }

 private:
  struct IsLater {
    bool operator()(const auto& a, const auto& b) const { return a->position() > b->position(); }
  };

  Position begin_of(size_t frame) const { return {frames_[frame].first_ns, frame}; }

  void put_back(std::unique_ptr<OpenFrame> frame) {
    if (frame == nullptr) return;
    if (frame->is_over()) {
      open_bytes_ -= frame->bytes();
      return;
    }
    others_.push_back(std::move(frame));
    std::push_heap(others_.begin(), others_.end(), IsLater());
  }

  // Makes the frame with the next line the current one.
  Status change_frame() {
    put_back(std::exchange(current_, nullptr));
    while (opened_ < order_.size() &&
           (others_.empty() || begin_of(order_[opened_]) < others_.front()->position())) {
      const size_t number = order_[opened_++];
      TS_TRY(auto frame, OpenFrame::open(frames_[number], number, bad_lines_));
      open_bytes_ += frame->bytes();
      if (open_bytes_ > max_open_bytes_) {
        return Error(fmt::format("frames of more than {} bytes overlap in time", max_open_bytes_));
      }
      put_back(std::move(frame));
    }
    if (others_.empty()) return {};
    std::pop_heap(others_.begin(), others_.end(), IsLater());
    current_ = std::move(others_.back());
    others_.pop_back();
    next_position_ = others_.empty() ? kNever : others_.front()->position();
    if (opened_ < order_.size()) {
      next_position_ = std::min(next_position_, begin_of(order_[opened_]));
    }
    return {};
  }

  std::span<const ReportFrame> frames_;
  std::atomic<int64_t>& unreadable_;
  const size_t max_open_bytes_;
  const ReportsWanted wanted_;
  int64_t bad_lines_ = 0;
  std::vector<size_t> order_;  // frames by their first times
  size_t opened_ = 0;          // so many of them
  size_t open_bytes_ = 0;      // of those that are not over
  std::unique_ptr<OpenFrame> current_;
  std::vector<std::unique_ptr<OpenFrame>> others_;  // a heap, the earliest first
  Position next_position_;                          // the first line that is not of current_
};

}  // namespace

Result<std::string_view> report_lines(std::string_view payload, uint8_t flags,
                                      std::string& buffer) {
  if ((flags & kFrameZstd) == 0) return payload;
  TS_TRY(buffer, decompress(payload, most_report_bytes(payload.size())));
  return std::string_view(buffer);
}

Result<uint64_t> count_reports(std::string_view lines) {
  const auto first = parse_integer(take_line(lines));
  if (!first) return Error("progress without its number");
  if (*first < 0 || *first > kMaxReportNumber) return Error("progress with an impossible number");
  const auto ends = static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
  return ends + (lines.empty() || lines.back() == '\n' ? 0 : 1);
}

Result<std::shared_ptr<const StoredReports>> StoredReports::open(std::span<const FramePlace> frames,
                                                                 int64_t first) {
  auto all = std::make_shared<StoredReports>();
  int64_t& next = all->next_number_;
  next = first;
  size_t kept_bytes = 0;
  std::string payload_buffer, text_buffer;
  for (const FramePlace& place : frames) {
    TS_TRY(const std::string_view payload, place.payload(payload_buffer));
    TS_TRY(std::string_view lines, report_lines(payload, place.flags, text_buffer));
    ReportFrame frame{place};
    const bool is_compressed = lines.data() == text_buffer.data();
    if (is_compressed && kept_bytes + text_buffer.size() <= kMaxKeptReportBytes) {
      kept_bytes += text_buffer.size();
      frame.text = std::make_shared<const std::string>(std::move(text_buffer));
      lines = *frame.text;
    }
    int64_t number = parse_integer(take_line(lines)).value_or(0), last_ns = INT64_MIN;
    for (; !lines.empty(); ++number) {
      const std::string_view line = take_line(lines);
      if (number < next) {
        ++frame.skipped;
        continue;
      }
      next = number + 1;
      const auto time_ns = time_of(line);
      if (!time_ns) continue;
      frame.first_ns = std::min(frame.first_ns, *time_ns);
      frame.is_sorted = frame.is_sorted && *time_ns >= last_ns;
      last_ns = *time_ns;
    }
    all->frames_.push_back(frame);
  }
  return std::shared_ptr<const StoredReports>(std::move(all));
}

void note_unreadable(int64_t lines, Training& training) {
  if (lines == 0) return;
  training.notes.push_back(fmt::format("{} stored messages of progress cannot be read", lines));
}

std::unique_ptr<Reader<StoredReport>> StoredReports::read(ReportsWanted wanted) const {
  return read_within(kMaxOpenReportBytes, wanted);
}

std::unique_ptr<Reader<StoredReport>> StoredReports::read_within(size_t max_open_bytes,
                                                                 ReportsWanted wanted) const {
  return std::make_unique<ReportReader>(frames_, unreadable_, max_open_bytes, wanted);
}

}  // namespace trainscope
