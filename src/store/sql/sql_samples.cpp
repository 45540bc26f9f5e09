// The virtual table samples(time_s, metric, labels, value): rows come from RunView::points_of,
// series by series, some of them read together. `metric = ?`, `labels = ?` and bounds of time_s are
// used to read only what is wanted.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "store/sql/sql.h"
#include "store/sql/virtual_table.h"

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

// How some series are read: so many together, and the range in parts; several parts only with one
// series at a time.
struct ReadingPlan {
  std::vector<Range> windows;
  size_t batch_size = 1;
};

// Of a run of this duration with so many rows in all of it. At most `held_bytes` are to be held.
ReadingPlan plan_reading(const Range& range, double run_duration_s, double all_rows,
                         double held_bytes) {
  const double duration_s = std::max(run_duration_s, 1e-9);
  const double begin_s = std::clamp(range.begin_s.value_or(0), 0.0, duration_s);
  const double end_s = std::clamp(range.end_s.value_or(duration_s), begin_s, duration_s);
  const double rows = 1 + all_rows * (end_s - begin_s) / duration_s;
  const double fitting = held_bytes / (kPointBytes * rows);
  const double count = std::ceil(1 / std::min(fitting, 1.0));
  ReadingPlan plan = {{range}, static_cast<size_t>(std::clamp(fitting, 1.0, kMaxBatch))};
  for (double i = 1; i < count; ++i) {
    const double border_s = begin_s + (end_s - begin_s) * i / count;
    plan.windows.back().end_s = border_s;
    plan.windows.push_back({border_s, range.end_s});
  }
  return plan;
}

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
  void set_plans(const Range& range);
  Status read_batch();
  Status settle();
  void move_on();

  const ReadingPlan& plan() const { return at_ < reported_at_ ? sampled_ : reported_; }
  bool is_in_batch() const { return at_ - batch_at_ < batch_.size(); }
  const Points& points() const { return batch_[at_ - batch_at_]; }

  const RunView& run_;
  SeriesLabels& labels_;
  double held_bytes_;
  std::vector<size_t> series_;  // that the query selects
  size_t reported_at_ = 0;      // the first of them that the job reported: the rest, too
  ReadingPlan sampled_, reported_;
  size_t at_ = 0;        // the current series
  size_t window_ = 0;    // its current window
  size_t batch_at_ = 0;  // the first series of those in `batch_`
  std::vector<Points> batch_;
  size_t sample_ = 0;
};

// The next window of this series, or the next series.
void SamplesCursor::move_on() {
  sample_ = 0;
  const size_t windows = plan().windows.size();
  if (window_ + 1 < windows) {
    ++window_;
    batch_.clear();
  } else {
    window_ = 0;
    ++at_;
    if (windows > 1) batch_.clear();
  }
}

// Samples and reports are planned apart: a job may report much faster than samples are taken.
void SamplesCursor::set_plans(const Range& range) {
  const size_t recorded = run_.recorded_series().size();
  const auto first = std::lower_bound(series_.begin(), series_.end(), recorded);
  reported_at_ = static_cast<size_t>(first - series_.begin());
  const double duration_s = run_.duration_s();
  sampled_ =
      plan_reading(range, duration_s, static_cast<double>(run_.sampling().samples), held_bytes_);
  if (first == series_.end()) return;
  const int64_t reported = reported_samples(run_, series_).most_of_one;
  reported_ = plan_reading(range, duration_s, static_cast<double>(reported), held_bytes_);
}

Status SamplesCursor::read_batch() {
  const size_t end = at_ < reported_at_ ? reported_at_ : series_.size();
  const size_t count = std::min(plan().batch_size, end - at_);
  const auto first = series_.begin() + static_cast<std::ptrdiff_t>(at_);
  batch_.clear();
  TS_TRY(batch_, run_.points_of({first, first + static_cast<std::ptrdiff_t>(count)},
                                plan().windows[window_]));
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
  set_plans(range);
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
