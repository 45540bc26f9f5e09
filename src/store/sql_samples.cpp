// The virtual table samples(time_s, metric, labels, value): rows come from RunView::points_of,
// series by series, some of them read together. `metric = ?`, `labels = ?` and bounds of time_s are
// used to read only what is wanted.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "store/sql.h"

namespace trainscope {

namespace {

constexpr int kTimeColumn = 0, kMetricColumn = 1, kLabelsColumn = 2, kValueColumn = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPointBytes = 2 * sizeof(double) + 1;
constexpr double kMaxBatch = 256;

// What SQLite hands to connect().
struct Samples {
  const RunView* run = nullptr;
  double held_bytes = 0;  // of the points of series that are read together
};

struct Table {
  sqlite3_vtab base{};  // must be first
  const RunView* run = nullptr;
  double held_bytes = 0;
  std::deque<std::string> labels;  // of the first series; SQLite keeps pointers to them

  const std::string& labels_of(size_t series) {
    while (labels.size() <= series) {
      labels.push_back(labels_text(run->series_at(labels.size()).labels));
    }
    return labels[series];
  }
};

struct Cursor {
  sqlite3_vtab_cursor base{};  // must be first
  Table* table = nullptr;
  std::vector<size_t> series;  // that the query selects
  std::vector<Range>
      windows;  // that are read one after the other; several only with one series per batch
  size_t batch_size = 1;  // how many series are read together
  size_t at = 0;          // the current series
  size_t window = 0;      // its current window
  size_t batch_at = 0;    // the first series of those in `batch`
  std::vector<Points> batch;
  size_t sample = 0;
  sqlite3_int64 row = 0;

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
  const std::string declaration = fmt::format("CREATE TABLE x({})", kSamplesColumns);
  const int code = sqlite3_declare_vtab(database, declaration.c_str());
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<Table>();
  const auto& samples = *static_cast<const Samples*>(data);
  table->run = samples.run;
  table->held_bytes = samples.held_bytes;
  *out = &table.release()->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* base) {
  delete &table_of(base);
  return SQLITE_OK;
}

// The letter that stands for a usable constraint in xFilter; 0 for the others.
char usable_constraint(sqlite3_index_info* info, int i) {
  const auto& constraint = info->aConstraint[i];
  if (constraint.usable == 0) return 0;
  const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
  // Another collation (NOCASE) would match more than we would look at.
  const bool exact = std::string_view(sqlite3_vtab_collation(info, i)) == "BINARY";
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
int best_index(sqlite3_vtab* /*table*/, sqlite3_index_info* info) {
  std::string plan;
  double cost = 1e6;
  for (int i = 0; i < info->nConstraint; ++i) {
    const char letter = usable_constraint(info, i);
    if (letter == 0) continue;
    plan += letter;
    info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.size());
    cost /= letter == 'm' ? 50 : letter == 'l' ? 10 : 2;
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

// The constraints of a query on series.
struct SeriesFilter {
  std::optional<std::string> metric, labels;

  std::vector<size_t> select(Table& table) const {
    // Reported progress is not read for other metrics.
    const bool may_be_training = !metric || metric->starts_with("train.");
    const auto& all = may_be_training ? table.run->series() : table.run->recorded_series();
    std::vector<size_t> selected;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].status == SeriesStatus::absent || (metric && all[i].metric != *metric)) continue;
      if (!labels || table.labels_of(i) == *labels) selected.push_back(i);
    }
    return selected;
  }
};

// Decides how many series are read together by the rows that they have in the range, and divides it
// where those of one are too many.
void plan_reading(Cursor& cursor, const Range& range) {
  const RunView& run = *cursor.table->run;
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
         cursor.table->run->points_of({first, first + static_cast<std::ptrdiff_t>(count)},
                                      cursor.windows[cursor.window]));
  cursor.batch_at = cursor.at;
  return {};
}

// Goes to the first present sample at or after the current place, loading series as needed.
int settle(Cursor& cursor) {
  for (;; cursor.move_on()) {
    if (cursor.at == cursor.series.size()) return SQLITE_OK;
    if (!cursor.is_in_batch()) {
      const Status read = read_batch(cursor);
      if (!read) {
        cursor.base.pVtab->zErrMsg = sqlite3_mprintf("%s", read.error().message().c_str());
        return SQLITE_ERROR;
      }
    }
    const Points& points = cursor.points();
    while (cursor.sample < points.time_s.size() && points.present[cursor.sample] == 0) {
      ++cursor.sample;
    }
    if (cursor.sample < points.time_s.size()) return SQLITE_OK;
  }
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

int filter(sqlite3_vtab_cursor* base, int /*number*/, const char* plan, int argc,
           sqlite3_value** argv) {
  Cursor& cursor = cursor_of(base);
  SeriesFilter wanted;
  Range range;
  for (int i = 0; i < argc; ++i) {
    if (plan[i] == 'm') {
      wanted.metric = text_of(argv[i]);
    } else if (plan[i] == 'l') {
      wanted.labels = text_of(argv[i]);
    } else {
      use_bound(range, plan[i], argv[i]);
    }
  }
  cursor.series = wanted.select(*cursor.table);
  cursor.batch.clear();
  plan_reading(cursor, range);
  cursor.at = cursor.window = cursor.batch_at = cursor.sample = 0;
  cursor.row = 0;
  return settle(cursor);
}

int next(sqlite3_vtab_cursor* base) {
  Cursor& cursor = cursor_of(base);
  ++cursor.sample;
  ++cursor.row;
  return settle(cursor);
}

int eof(sqlite3_vtab_cursor* base) {
  const Cursor& cursor = cursor_of(base);
  return cursor.at == cursor.series.size() ? 1 : 0;
}

void give_text(sqlite3_context* context, const std::string& text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int which) {
  const Cursor& cursor = cursor_of(base);
  switch (which) {
    case kTimeColumn:
      sqlite3_result_double(context, cursor.points().time_s[cursor.sample]);
      break;
    case kMetricColumn:
      give_text(context, cursor.table->run->series_at(cursor.series[cursor.at]).metric);
      break;
    case kLabelsColumn:
      give_text(context, cursor.table->labels_of(cursor.series[cursor.at]));
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

Status add_samples_table(sqlite3* database, const RunView& run, double held_bytes) {
  static const sqlite3_module kModule = samples_module();
  int code = sqlite3_create_module_v2(database, "trainscope_samples", &kModule,
                                      new Samples{&run, held_bytes},
                                      [](void* data) { delete static_cast<Samples*>(data); });
  if (code == SQLITE_OK) {
    code = sqlite3_exec(database, "CREATE VIRTUAL TABLE samples USING trainscope_samples", nullptr,
                        nullptr, nullptr);
  }
  if (code != SQLITE_OK) return Error(sqlite3_errmsg(database));
  return {};
}

}  // namespace trainscope
