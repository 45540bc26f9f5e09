// The virtual table samples(time_s, metric, labels, value): rows come from RunView::points, series
// by series. `metric = ?`, `labels = ?` and bounds of time_s are used to read only what is asked
// for.
#include <sqlite3.h>

#include <cmath>
#include <limits>

#include "store/sql.h"

namespace trainscope {

namespace {

constexpr int kTimeColumn = 0, kMetricColumn = 1, kLabelsColumn = 2, kValueColumn = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Table {
  sqlite3_vtab base{};  // must be first
  const RunView* run = nullptr;
  std::vector<std::string> labels;  // one a series
};

struct Cursor {
  sqlite3_vtab_cursor base{};  // must be first
  const Table* table = nullptr;
  std::string metric, labels;
  bool by_metric = false, by_labels = false;
  Range range;
  size_t series = 0, sample = 0;
  Points points;
  sqlite3_int64 row = 0;
};

Table& table_of(sqlite3_vtab* base) { return *reinterpret_cast<Table*>(base); }
Cursor& cursor_of(sqlite3_vtab_cursor* base) { return *reinterpret_cast<Cursor*>(base); }

int connect(sqlite3* database, void* run, int /*argc*/, const char* const* /*argv*/,
            sqlite3_vtab** out, char** /*error*/) {
  const int code = sqlite3_declare_vtab(
      database, "CREATE TABLE x(time_s REAL, metric TEXT, labels TEXT, value REAL)");
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<Table>();
  table->run = static_cast<const RunView*>(run);
  for (const Series& series : table->run->series()) {
    table->labels.push_back(labels_text(series.labels));
  }
  *out = &table.release()->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* base) {
  delete &table_of(base);
  return SQLITE_OK;
}

// The letter by which xFilter knows a constraint that it can use; 0 for the others.
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

bool wanted(const Cursor& cursor, size_t series) {
  const Series& it = cursor.table->run->series()[series];
  if (it.status == SeriesStatus::absent) return false;
  return (!cursor.by_metric || it.metric == cursor.metric) &&
         (!cursor.by_labels || cursor.table->labels[series] == cursor.labels);
}

// Goes to the first present sample at or after the current place, loading series as needed.
int settle(Cursor& cursor) {
  const size_t count = cursor.table->run->series().size();
  for (;;) {
    while (cursor.sample < cursor.points.time_s.size() &&
           cursor.points.present[cursor.sample] == 0) {
      ++cursor.sample;
    }
    if (cursor.sample < cursor.points.time_s.size()) return SQLITE_OK;
    ++cursor.series;
    while (cursor.series < count && !wanted(cursor, cursor.series)) ++cursor.series;
    cursor.points = {};
    cursor.sample = 0;
    if (cursor.series >= count) return SQLITE_OK;
    auto points = cursor.table->run->points(cursor.series, cursor.range);
    if (!points) {
      cursor.base.pVtab->zErrMsg = sqlite3_mprintf("%s", points.error().message().c_str());
      return SQLITE_ERROR;
    }
    cursor.points = std::move(*points);
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
  cursor.by_metric = cursor.by_labels = false;
  cursor.range = {};
  for (int i = 0; i < argc; ++i) {
    if (plan[i] == 'm') {
      cursor.by_metric = true;
      cursor.metric = text_of(argv[i]);
    } else if (plan[i] == 'l') {
      cursor.by_labels = true;
      cursor.labels = text_of(argv[i]);
    } else {
      use_bound(cursor.range, plan[i], argv[i]);
    }
  }
  cursor.points = {};
  cursor.sample = 0;
  cursor.row = 0;
  cursor.series = SIZE_MAX;  // settle() goes to the next one, which is the first
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
  return cursor.series >= cursor.table->run->series().size() ? 1 : 0;
}

void give_text(sqlite3_context* context, const std::string& text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int which) {
  const Cursor& cursor = cursor_of(base);
  switch (which) {
    case kTimeColumn:
      sqlite3_result_double(context, cursor.points.time_s[cursor.sample]);
      break;
    case kMetricColumn:
      give_text(context, cursor.table->run->series()[cursor.series].metric);
      break;
    case kLabelsColumn:
      give_text(context, cursor.table->labels[cursor.series]);
      break;
    case kValueColumn:
      sqlite3_result_double(context, cursor.points.value[cursor.sample]);
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

Status add_samples_table(sqlite3* database, const RunView& run) {
  static const sqlite3_module kModule = samples_module();
  // SQLite hands the pointer back as void*; connect() only reads through it.
  void* data = const_cast<RunView*>(&run);
  int code = sqlite3_create_module(database, "trainscope_samples", &kModule, data);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(database, "CREATE VIRTUAL TABLE samples USING trainscope_samples", nullptr,
                        nullptr, nullptr);
  }
  if (code != SQLITE_OK) return Error(sqlite3_errmsg(database));
  return {};
}

}  // namespace trainscope
