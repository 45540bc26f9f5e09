// The virtual table samples(time_s, metric, labels, value): rows come from RunView::points_of,
// series by series, some of them read together. `metric = ?`, `labels = ?` and bounds of time_s are
// used to read only what is wanted.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "store/sql.h"
#include "store/virtual_table.h"

namespace trainscope {

namespace {

constexpr int kTimeColumn = 0, kMetricColumn = 1, kLabelsColumn = 2, kValueColumn = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPointBytes = 2 * sizeof(double) + 1;
constexpr double kMaxBatch = 256;

// The columns `labels` of a run, made when they are first wanted.
class SeriesLabels {
 public:
  explicit SeriesLabels(const RunView& run) : run_(run) {}

  const std::string& of(size_t series) {
    while (texts_.size() <= series) {
      texts_.push_back(labels_text(run_.series_at(texts_.size()).labels));
    }
    return texts_[series];
  }

 private:
  const RunView& run_;
  std::deque<std::string> texts_;  // of the first series; SQLite keeps pointers to them
};

// The constraints of a query on series.
struct SeriesFilter {
  std::optional<std::string> metric, labels;

  std::vector<size_t> select(const RunView& run, SeriesLabels& all_labels) const {
    // Reported progress is not read for other metrics.
    const bool may_be_training = !metric || metric->starts_with("train.");
    const auto& all = may_be_training ? run.series() : run.recorded_series();
    std::vector<size_t> selected;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].status == SeriesStatus::absent || (metric && all[i].metric != *metric)) continue;
      if (!labels || all_labels.of(i) == *labels) selected.push_back(i);
    }
    return selected;
  }
};

class SamplesCursor : public VirtualCursor {
 public:
  // `held_bytes` of the points of series that are read together.
  SamplesCursor(const RunView& run, SeriesLabels& labels, double held_bytes)
      : run_(run), labels_(labels), held_bytes_(held_bytes) {}

  Status begin(const char* plan, std::span<sqlite3_value*> values) override;
  Status next() override {
    ++sample_;
    return settle();
  }
  bool is_over() const override { return at_ == series_.size(); }
  void give_column(sqlite3_context* context, int which) override;

 private:
  void plan_reading(const Range& range);
  Status read_batch();
  Status settle();
  void move_on();

  bool is_in_batch() const { return at_ - batch_at_ < batch_.size(); }
  const Points& points() const { return batch_[at_ - batch_at_]; }

  const RunView& run_;
  SeriesLabels& labels_;
  double held_bytes_;
  std::vector<size_t> series_;  // that the query selects
  // That are read one after the other; several only with one series per batch.
  std::vector<Range> windows_;
  size_t batch_size_ = 1;  // how many series are read together
  size_t at_ = 0;          // the current series
  size_t window_ = 0;      // its current window
  size_t batch_at_ = 0;    // the first series of those in `batch_`
  std::vector<Points> batch_;
  size_t sample_ = 0;
};

// The next window of this series, or the next series.
void SamplesCursor::move_on() {
  sample_ = 0;
  if (window_ + 1 < windows_.size()) {
    ++window_;
    batch_.clear();
  } else {
    window_ = 0;
    ++at_;
    if (windows_.size() > 1) batch_.clear();
  }
}

// Decides how many series are read together by the rows that they have in the range, and divides it
// where those of one are too many.
void SamplesCursor::plan_reading(const Range& range) {
  const double duration_s = std::max(run_.duration_s(), 1e-9);
  const double begin_s = std::clamp(range.begin_s.value_or(0), 0.0, duration_s);
  const double end_s = std::clamp(range.end_s.value_or(duration_s), begin_s, duration_s);
  const double rows =
      1 + static_cast<double>(run_.sampling().samples) * (end_s - begin_s) / duration_s;
  const double fitting = held_bytes_ / (kPointBytes * rows);
  batch_size_ = static_cast<size_t>(std::clamp(fitting, 1.0, kMaxBatch));
  const double count = std::ceil(1 / std::min(fitting, 1.0));
  windows_ = {range};
  for (double i = 1; i < count; ++i) {
    const double border_s = begin_s + (end_s - begin_s) * i / count;
    windows_.back().end_s = border_s;
    windows_.push_back({border_s, range.end_s});
  }
}

Status SamplesCursor::read_batch() {
  const size_t count = std::min(batch_size_, series_.size() - at_);
  const auto first = series_.begin() + static_cast<std::ptrdiff_t>(at_);
  batch_.clear();
  TS_TRY(batch_,
         run_.points_of({first, first + static_cast<std::ptrdiff_t>(count)}, windows_[window_]));
  batch_at_ = at_;
  return {};
}

// Goes to the first present sample at or after the current place, loading series as needed.
Status SamplesCursor::settle() {
  for (;; move_on()) {
    if (is_over()) return {};
    if (!is_in_batch()) TS_CHECK_OK(read_batch());
    const Points& now = points();
    while (sample_ < now.time_s.size() && now.present[sample_] == 0) ++sample_;
    if (sample_ < now.time_s.size()) return {};
  }
}

// The letter that stands for a usable constraint in xFilter; 0 for the others.
char usable_constraint(sqlite3_index_info& info, int i) {
  const auto& constraint = info.aConstraint[i];
  if (constraint.usable == 0) return 0;
  const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
  // Another collation (NOCASE) would match more than we would look at.
  const bool exact = std::string_view(sqlite3_vtab_collation(&info, i)) == "BINARY";
  if (constraint.iColumn == kMetricColumn && equal && exact) return 'm';
  if (constraint.iColumn == kLabelsColumn && equal && exact) return 'l';
  if (constraint.iColumn != kTimeColumn) return 0;
  switch (constraint.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return '=';
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_GT:
      return '>';
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_LT:
      return '<';
    default:
      return 0;
  }
}

// SQLite still checks every row: a constraint only narrows what is read.
std::string plan_constraints(sqlite3_index_info& info) {
  std::string plan;
  double cost = 1e6;
  for (int i = 0; i < info.nConstraint; ++i) {
    const char letter = usable_constraint(info, i);
    if (letter == 0) continue;
    plan += letter;
    info.aConstraintUsage[i].argvIndex = static_cast<int>(plan.size());
    cost /= letter == 'm' ? 50 : letter == 'l' ? 10 : 2;
  }
  info.estimatedCost = cost;
  info.estimatedRows = static_cast<sqlite3_int64>(cost);
  return plan;
}

std::string text_of(sqlite3_value* value) {
  const unsigned char* text = sqlite3_value_text(value);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

void use_bound(Range& range, char letter, sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;  // compares by SQLite's own rules
  const double bound = sqlite3_value_double(value);
  if (letter != '<') range.begin_s = std::max(range.begin_s.value_or(-kInfinity), bound);
  if (letter != '>') {
    const double after = std::nextafter(bound, kInfinity);  // Range ends before its end
    range.end_s = std::min(range.end_s.value_or(kInfinity), after);
  }
}

Status SamplesCursor::begin(const char* plan, std::span<sqlite3_value*> values) {
  SeriesFilter wanted;
  Range range;
  for (size_t i = 0; i < values.size(); ++i) {
    if (plan[i] == 'm') {
      wanted.metric = text_of(values[i]);
    } else if (plan[i] == 'l') {
      wanted.labels = text_of(values[i]);
    } else {
      use_bound(range, plan[i], values[i]);
    }
  }
  series_ = wanted.select(run_, labels_);
  batch_.clear();
  plan_reading(range);
  at_ = window_ = batch_at_ = sample_ = 0;
  return settle();
}

void give_text(sqlite3_context* context, const std::string& text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void SamplesCursor::give_column(sqlite3_context* context, int which) {
  switch (which) {
    case kTimeColumn:
      return sqlite3_result_double(context, points().time_s[sample_]);
    case kMetricColumn:
      return give_text(context, run_.series_at(series_[at_]).metric);
    case kLabelsColumn:
      return give_text(context, labels_.of(series_[at_]));
    case kValueColumn:
      return sqlite3_result_double(context, points().value[sample_]);
    default:
      return sqlite3_result_null(context);
  }
}

class SamplesTable : public VirtualTable {
 public:
  SamplesTable(const RunView& run, double held_bytes)
      : run_(run), labels_(run), held_bytes_(held_bytes) {}

  std::string columns() const override { return std::string(kSamplesColumns); }
  std::string plan(sqlite3_index_info& info) const override { return plan_constraints(info); }
  std::unique_ptr<VirtualCursor> open() override {
    return std::make_unique<SamplesCursor>(run_, labels_, held_bytes_);
  }

 private:
  const RunView& run_;
  SeriesLabels labels_;
  double held_bytes_;
};

}  // namespace

Status add_samples_table(sqlite3* database, const RunView& run, double held_bytes) {
  return add_virtual_table(database, "samples", std::make_unique<SamplesTable>(run, held_bytes));
}

}  // namespace trainscope
