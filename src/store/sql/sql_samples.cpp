// The virtual table samples(time_s, metric, labels, value), of a group with the columns run and
// rank before them: rows come from RunView::points_of, run by run and series by series, some of
// them read together. `run = ?`, `rank = ?`, `metric = ?`, `labels = ?` and bounds of time_s are
// used to read only what is wanted.
#include <algorithm>
#include <cmath>
#include <limits>

#include "store/sql/sql.h"
#include "store/sql/sql_row_filter.h"
#include "store/sql/virtual_table.h"

namespace trainscope {

namespace {

// After those of a group, which are counted from below 0.
constexpr int kRunColumn = -kGroupColumnCount, kRankColumn = kRunColumn + 1;
constexpr int kTimeColumn = 0, kMetricColumn = 1, kLabelsColumn = 2, kValueColumn = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPointBytes = 2 * sizeof(double) + 1;
constexpr double kMaxBatch = 256;

// The runs of a query, for all its cursors.
class LabelledRuns {
 public:
  explicit LabelledRuns(const QueriedRuns& runs) : runs_(runs) {}

  const QueriedRuns& queried() const { return runs_; }
  // SQLite may keep pointers to the texts of a run that stays open; those of a group do not.
  bool stay_open() const { return !runs_.is_group(); }
  // Of a column as it was declared.
  int column_of(int declared) const {
    return runs_.is_group() ? declared - kGroupColumnCount : declared;
  }
  Result<std::shared_ptr<LabelledRun>> open(size_t at) {
    if (only_run_ != nullptr) return only_run_;
    auto run = std::make_shared<LabelledRun>();
    TS_TRY(run->view, runs_.open(at));
    if (stay_open()) only_run_ = run;
    return run;
  }

 private:
  const QueriedRuns& runs_;
  std::shared_ptr<LabelledRun> only_run_;  // of a query over one run
};

// How some series are read: so many together, and the range in parts; several parts only with one
// series at a time.
struct ReadingPlan {
  std::vector<Range> windows;
  size_t batch_size = 1;
};

// Where the rows of a series are: at equal intervals, or anywhere, so that a part of the time may
// have all of them.
enum class Spread { even, unknown };

// Of a run of this duration with so many rows in all of it. At most `held_bytes` are to be held,
// but for rows of an unknown spread: as many of one series as are in one window.
ReadingPlan plan_reading(const Range& range, double run_duration_s, double all_rows,
                         double held_bytes, Spread spread) {
  const double duration_s = std::max(run_duration_s, 1e-9);
  const double begin_s = std::clamp(range.begin_s.value_or(0), 0.0, duration_s);
  const double end_s = std::clamp(range.end_s.value_or(duration_s), begin_s, duration_s);
  const double share = spread == Spread::even ? (end_s - begin_s) / duration_s : 1;
  const double rows = 1 + all_rows * share;
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
  SamplesCursor(LabelledRuns& runs, double held_bytes) : runs_(runs), held_bytes_(held_bytes) {}

  Status begin(const char* plan, std::span<sqlite3_value*> values) override;
  Status next() override {
    ++sample_;
    return settle();
  }
  bool is_over() const override { return run_at_ == selected_.size(); }
  void give_column(sqlite3_context* context, int which) override;

 private:
  Status begin_run();
  void set_plans();
  Status read_batch();
  Status settle();
  void move_on();

  const ReadingPlan& plan() const { return at_ < reported_at_ ? sampled_ : reported_; }
  bool is_in_batch() const { return at_ - batch_at_ < batch_.size(); }
  const Points& points() const { return batch_[at_ - batch_at_]; }

  void give_text(sqlite3_context* context, const std::string& text) const;

  LabelledRuns& runs_;
  double held_bytes_;
  RowFilter wanted_;
  std::vector<size_t> selected_;      // runs that the query selects
  size_t run_at_ = 0;                 // the current one of them
  std::shared_ptr<LabelledRun> run_;  // it, open
  std::vector<size_t> series_;        // of it, that the query selects
  size_t reported_at_ = 0;            // the first of them that the job reported: the rest, too
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

// Opens the current run, if there is one.
Status SamplesCursor::begin_run() {
  run_.reset();
  series_.clear();
  batch_.clear();
  at_ = window_ = batch_at_ = sample_ = 0;
  if (is_over()) return {};
  TS_TRY(run_, runs_.open(selected_[run_at_]));
  series_ = wanted_.select_series(*run_);
  set_plans();
  return {};
}

// Samples and reports are planned apart: a job may report much faster than samples are taken.
void SamplesCursor::set_plans() {
  const RunView& run = *run_->view;
  const size_t recorded = run.recorded_series().size();
  const auto first = std::lower_bound(series_.begin(), series_.end(), recorded);
  reported_at_ = static_cast<size_t>(first - series_.begin());
  const double duration_s = run.duration_s();
  sampled_ = plan_reading(wanted_.range, duration_s, static_cast<double>(run.sampling().samples),
                          held_bytes_, Spread::even);
  if (first == series_.end()) return;
  const int64_t reported = reported_samples(run, series_).most_of_one;
  reported_ = plan_reading(wanted_.range, duration_s, static_cast<double>(reported), held_bytes_,
                           Spread::unknown);
}

Status SamplesCursor::read_batch() {
  const size_t end = at_ < reported_at_ ? reported_at_ : series_.size();
  const size_t count = std::min(plan().batch_size, end - at_);
  const auto first = series_.begin() + static_cast<std::ptrdiff_t>(at_);
  batch_.clear();
  TS_TRY(batch_, run_->view->points_of({first, first + static_cast<std::ptrdiff_t>(count)},
                                       plan().windows[window_]));
  batch_at_ = at_;
  return {};
}

// Goes to the first present sample at or after the current place, loading runs and series as
// needed.
Status SamplesCursor::settle() {
  while (!is_over()) {
    if (at_ == series_.size()) {
      ++run_at_;
      TS_CHECK_OK(begin_run());
      continue;
    }
    if (!is_in_batch()) TS_CHECK_OK(read_batch());
    const Points& now = points();
    while (sample_ < now.time_s.size() && now.present[sample_] == 0) ++sample_;
    if (sample_ < now.time_s.size()) return {};
    move_on();
  }
  return {};
}

// The letter that stands for a usable constraint in xFilter; 0 for the others.
char usable_constraint(const LabelledRuns& runs, sqlite3_index_info& info, int i) {
  const auto& constraint = info.aConstraint[i];
  if (constraint.usable == 0 || constraint.iColumn < 0) return 0;  // below 0: the row's number
  const int column = runs.column_of(constraint.iColumn);
  const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
  // Another collation (NOCASE) would match more than we would look at.
  const bool exact = std::string_view(sqlite3_vtab_collation(&info, i)) == "BINARY";
  if (column == kRunColumn && equal && exact) return 'r';
  if (column == kRankColumn && equal) return 'k';
  if (column == kMetricColumn && equal && exact) return 'm';
  if (column == kLabelsColumn && equal && exact) return 'l';
  if (column != kTimeColumn) return 0;
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
std::string plan_constraints(const LabelledRuns& runs, sqlite3_index_info& info) {
  std::string plan;
  double cost = 1e6;
  for (int i = 0; i < info.nConstraint; ++i) {
    const char letter = usable_constraint(runs, info, i);
    if (letter == 0) continue;
    plan += letter;
    info.aConstraintUsage[i].argvIndex = static_cast<int>(plan.size());
    cost /= letter == 'm' ? 50 : letter == '=' || letter == '<' || letter == '>' ? 2 : 10;
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

void use_constraint(RowFilter& wanted, char letter, sqlite3_value* value) {
  switch (letter) {
    case 'r':
      wanted.run = text_of(value);
      break;
    case 'k':  // another type compares by SQLite's own rules
      if (sqlite3_value_type(value) == SQLITE_INTEGER) wanted.rank = sqlite3_value_int64(value);
      break;
    case 'm':
      wanted.metric = text_of(value);
      break;
    case 'l':
      wanted.labels = text_of(value);
      break;
    default:
      use_bound(wanted.range, letter, value);
  }
}

Status SamplesCursor::begin(const char* plan, std::span<sqlite3_value*> values) {
  wanted_ = {};
  for (size_t i = 0; i < values.size(); ++i) use_constraint(wanted_, plan[i], values[i]);
  selected_ = wanted_.select_runs(runs_.queried());
  run_at_ = 0;
  TS_CHECK_OK(begin_run());
  return settle();
}

void SamplesCursor::give_text(sqlite3_context* context, const std::string& text) const {
  sqlite3_result_text64(context, text.data(), text.size(),
                        runs_.stay_open() ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
}

void SamplesCursor::give_column(sqlite3_context* context, int which) {
  const Manifest& manifest = runs_.queried().manifest(selected_[run_at_]);
  switch (runs_.column_of(which)) {
    case kRunColumn:
      return give_text(context, manifest.id);
    case kRankColumn:
      return sqlite3_result_int64(context, manifest.rank);
    case kTimeColumn:
      return sqlite3_result_double(context, points().time_s[sample_]);
    case kMetricColumn:
      return give_text(context, run_->view->series_at(series_[at_]).metric);
    case kLabelsColumn:
      return give_text(context, run_->labels_of(series_[at_]));
    case kValueColumn:
      return sqlite3_result_double(context, points().value[sample_]);
    default:
      return sqlite3_result_null(context);
  }
}

class SamplesTable : public VirtualTable {
 public:
  SamplesTable(const QueriedRuns& runs, double held_bytes) : runs_(runs), held_bytes_(held_bytes) {}

  std::string columns() const override {
    return std::string(runs_.queried().first_columns()) + std::string(kSamplesColumns);
  }
  std::string plan(sqlite3_index_info& info) const override {
    return plan_constraints(runs_, info);
  }
  std::unique_ptr<VirtualCursor> open() override {
    return std::make_unique<SamplesCursor>(runs_, held_bytes_);
  }

 private:
  LabelledRuns runs_;
  double held_bytes_;
};

}  // namespace

Status add_samples_table(sqlite3* database, const QueriedRuns& runs, double held_bytes) {
  return add_virtual_table(database, "samples", std::make_unique<SamplesTable>(runs, held_bytes));
}

}  // namespace trainscope
