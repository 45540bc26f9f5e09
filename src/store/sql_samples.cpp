// The virtual table samples(time_s, metric, labels, value), of a group with the columns run and
// rank before them: rows come from RunView::points_of, run by run and series by series, some of
// them read together. `run = ?`, `rank = ?`, `metric = ?`, `labels = ?` and bounds of time_s are
// used to read only what is wanted.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "store/sql.h"
#include "store/sql_row_filter.h"

namespace trainscope {

namespace {

// After those of a group, which are counted from below 0.
constexpr int kRunColumn = -kGroupColumnCount, kRankColumn = kRunColumn + 1;
constexpr int kTimeColumn = 0, kMetricColumn = 1, kLabelsColumn = 2, kValueColumn = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPointBytes = 2 * sizeof(double) + 1;
constexpr double kMaxBatch = 256;

// What SQLite hands to connect().
struct Samples {
  const QueriedRuns* runs = nullptr;
  double held_bytes = 0;  // of the points of series that are read together
};

struct Table {
  sqlite3_vtab base{};  // must be first
  const QueriedRuns* runs = nullptr;
  double held_bytes = 0;
  // The only run of a query that is not of a group: it stays open, and SQLite keeps pointers to its
  // texts.
  std::shared_ptr<LabelledRun> only_run;

  Result<std::shared_ptr<LabelledRun>> open(size_t at) {
    if (only_run != nullptr) return only_run;
    auto run = std::make_shared<LabelledRun>();
    TS_TRY(run->view, runs->open(at));
    if (!runs->is_group()) only_run = run;
    return run;
  }
  int column_of(int declared) const {
    return runs->is_group() ? declared - kGroupColumnCount : declared;
  }
};

struct Cursor {
  sqlite3_vtab_cursor base{};  // must be first
  Table* table = nullptr;
  RowFilter wanted;
  std::vector<size_t> runs;  // that the query selects
  size_t run_at = 0;         // the current run
  std::shared_ptr<LabelledRun> run;
  std::vector<size_t> series;  // of it, that the query selects
  std::vector<Range>
      windows;  // that are read one after the other; several only with one series per batch
  size_t batch_size = 1;  // how many series are read together
  size_t at = 0;          // the current series
  size_t window = 0;      // its current window
  size_t batch_at = 0;    // the first series of those in `batch`
  std::vector<Points> batch;
  size_t sample = 0;
  sqlite3_int64 row = 0;

  bool is_over() const { return run_at == runs.size(); }
  bool is_in_batch() const { return at - batch_at < batch.size(); }
  const Points& points() const { return batch[at - batch_at]; }

  // The next window of this series, or the next series.
  void move_on() {
    sample = 0;
    if (window + 1 < windows.size()) {
      ++window;
      batch.clear();
    } else {
      window = 0;
      ++at;
      if (windows.size() > 1) batch.clear();
    }
  }
};

Table& table_of(sqlite3_vtab* base) { return *reinterpret_cast<Table*>(base); }
Cursor& cursor_of(sqlite3_vtab_cursor* base) { return *reinterpret_cast<Cursor*>(base); }

int connect(sqlite3* database, void* data, int /*argc*/, const char* const* /*argv*/,
            sqlite3_vtab** out, char** /*error*/) {
  const auto& samples = *static_cast<const Samples*>(data);
  const std::string declaration =
      fmt::format("CREATE TABLE x({}{})", samples.runs->first_columns(), kSamplesColumns);
  const int code = sqlite3_declare_vtab(database, declaration.c_str());
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<Table>();
  table->runs = samples.runs;
  table->held_bytes = samples.held_bytes;
  *out = &table.release()->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* base) {
  delete &table_of(base);
  return SQLITE_OK;
}

// The letter that stands for a usable constraint in xFilter; 0 for the others.
char usable_constraint(const Table& table, sqlite3_index_info* info, int i) {
  const auto& constraint = info->aConstraint[i];
  if (constraint.usable == 0) return 0;
  const int column = table.column_of(constraint.iColumn);
  const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
  // Another collation (NOCASE) would match more than we would look at.
  const bool exact = std::string_view(sqlite3_vtab_collation(info, i)) == "BINARY";
  if (constraint.iColumn < 0) return 0;  // the number of the row
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
int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  std::string plan;
  double cost = 1e6;
  for (int i = 0; i < info->nConstraint; ++i) {
    const char letter = usable_constraint(table_of(base), info, i);
    if (letter == 0) continue;
    plan += letter;
    info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.size());
    cost /= letter == 'm' ? 50 : letter == '=' || letter == '<' || letter == '>' ? 2 : 10;
  }
  info->estimatedCost = cost;
  info->estimatedRows = static_cast<sqlite3_int64>(cost);
  info->idxStr = sqlite3_mprintf("%s", plan.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** out) {
  auto cursor = std::make_unique<Cursor>();
  cursor->table = &table_of(base);
  *out = &cursor.release()->base;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* base) {
  delete &cursor_of(base);
  return SQLITE_OK;
}

// Decides how many series are read together by the rows that they have in the range, and divides it
// where those of one are too many.
void plan_reading(Cursor& cursor, const Range& range) {
  const RunView& run = *cursor.run->view;
  const double duration_s = std::max(run.duration_s(), 1e-9);
  const double begin_s = std::clamp(range.begin_s.value_or(0), 0.0, duration_s);
  const double end_s = std::clamp(range.end_s.value_or(duration_s), begin_s, duration_s);
  const double rows =
      1 + static_cast<double>(run.sampling().samples) * (end_s - begin_s) / duration_s;
  const double fitting = cursor.table->held_bytes / (kPointBytes * rows);
  cursor.batch_size = static_cast<size_t>(std::clamp(fitting, 1.0, kMaxBatch));
  const double count = std::ceil(1 / std::min(fitting, 1.0));
  cursor.windows = {range};
  for (double i = 1; i < count; ++i) {
    const double border_s = begin_s + (end_s - begin_s) * i / count;
    cursor.windows.back().end_s = border_s;
    cursor.windows.push_back({border_s, range.end_s});
  }
}

Status read_batch(Cursor& cursor) {
  const size_t count = std::min(cursor.batch_size, cursor.series.size() - cursor.at);
  const auto first = cursor.series.begin() + static_cast<std::ptrdiff_t>(cursor.at);
  cursor.batch.clear();
  TS_TRY(cursor.batch,
         cursor.run->view->points_of({first, first + static_cast<std::ptrdiff_t>(count)},
                                     cursor.windows[cursor.window]));
  cursor.batch_at = cursor.at;
  return {};
}

// Opens the current run, if there is one.
Status begin_run(Cursor& cursor) {
  cursor.run.reset();
  cursor.series.clear();
  cursor.batch.clear();
  cursor.at = cursor.window = cursor.batch_at = cursor.sample = 0;
  if (cursor.is_over()) return {};
  TS_TRY(cursor.run, cursor.table->open(cursor.runs[cursor.run_at]));
  cursor.series = cursor.wanted.select_series(*cursor.run);
  plan_reading(cursor, cursor.wanted.range);
  return {};
}

// Goes to the first present sample at or after the current place, loading series as needed.
Status find_sample(Cursor& cursor) {
  while (!cursor.is_over()) {
    if (cursor.at == cursor.series.size()) {
      ++cursor.run_at;
      TS_CHECK_OK(begin_run(cursor));
      continue;
    }
    if (!cursor.is_in_batch()) TS_CHECK_OK(read_batch(cursor));
    const Points& points = cursor.points();
    while (cursor.sample < points.time_s.size() && points.present[cursor.sample] == 0) {
      ++cursor.sample;
    }
    if (cursor.sample < points.time_s.size()) return {};
    cursor.move_on();
  }
  return {};
}

int sqlite_code(Cursor& cursor, const Status& status) {
  if (status) return SQLITE_OK;
  cursor.base.pVtab->zErrMsg = sqlite3_mprintf("%s", status.error().message().c_str());
  return SQLITE_ERROR;
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

int filter(sqlite3_vtab_cursor* base, int /*number*/, const char* plan, int argc,
           sqlite3_value** argv) {
  Cursor& cursor = cursor_of(base);
  RowFilter wanted;
  for (int i = 0; i < argc; ++i) use_constraint(wanted, plan[i], argv[i]);
  cursor.wanted = wanted;
  cursor.runs = wanted.select_runs(*cursor.table->runs);
  cursor.run_at = 0;
  cursor.row = 0;
  if (const Status begun = begin_run(cursor); !begun) return sqlite_code(cursor, begun);
  return sqlite_code(cursor, find_sample(cursor));
}

int next(sqlite3_vtab_cursor* base) {
  Cursor& cursor = cursor_of(base);
  ++cursor.sample;
  ++cursor.row;
  return sqlite_code(cursor, find_sample(cursor));
}

int eof(sqlite3_vtab_cursor* base) { return cursor_of(base).is_over() ? 1 : 0; }

// The texts of a run of a group end with it.
void give_text(const Cursor& cursor, sqlite3_context* context, const std::string& text) {
  sqlite3_result_text64(context, text.data(), text.size(),
                        cursor.table->only_run ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int which) {
  const Cursor& cursor = cursor_of(base);
  const Manifest& m = cursor.table->runs->manifest(cursor.runs[cursor.run_at]);
  switch (cursor.table->column_of(which)) {
    case kRunColumn:
      give_text(cursor, context, m.id);
      break;
    case kRankColumn:
      sqlite3_result_int64(context, m.rank);
      break;
    case kTimeColumn:
      sqlite3_result_double(context, cursor.points().time_s[cursor.sample]);
      break;
    case kMetricColumn:
      give_text(cursor, context, cursor.run->view->series_at(cursor.series[cursor.at]).metric);
      break;
    case kLabelsColumn:
      give_text(cursor, context, cursor.run->labels_of(cursor.series[cursor.at]));
      break;
    case kValueColumn:
      sqlite3_result_double(context, cursor.points().value[cursor.sample]);
      break;
    default:
      sqlite3_result_null(context);
  }
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = cursor_of(base).row;
  return SQLITE_OK;
}

sqlite3_module samples_module() {
  sqlite3_module module{};
  module.xCreate = connect;
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xDestroy = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}

}  // namespace

Status add_samples_table(sqlite3* database, const QueriedRuns& runs, double held_bytes) {
  static const sqlite3_module kModule = samples_module();
  int code = sqlite3_create_module_v2(database, "trainscope_samples", &kModule,
                                      new Samples{&runs, held_bytes},
                                      [](void* data) { delete static_cast<Samples*>(data); });
  if (code == SQLITE_OK) {
    code = sqlite3_exec(database, "CREATE VIRTUAL TABLE samples USING trainscope_samples", nullptr,
                        nullptr, nullptr);
  }
  if (code != SQLITE_OK) return Error(sqlite3_errmsg(database));
  return {};
}

}  // namespace trainscope
