// Virtual tables whose rows are read from the run one by one, in its order, each time a query goes
// through them.
#include <fmt/format.h>
#include <sqlite3.h>

#include "store/sql_tables.h"

namespace trainscope {

namespace {

constexpr double kManyRows = 1e7;

// What SQLite hands to connect().
struct Streamed {
  const RunTable* table = nullptr;
  const RunView* run = nullptr;
};

struct Table {
  sqlite3_vtab base{};  // must be first
  Streamed streamed;
};

struct Cursor {
  sqlite3_vtab_cursor base{};  // must be first
  std::unique_ptr<Reader<SqlRow>> rows;
  SqlRow row;
  sqlite3_int64 number = 0;
  bool is_over = false;
};

Table& table_of(sqlite3_vtab* base) { return *reinterpret_cast<Table*>(base); }
Cursor& cursor_of(sqlite3_vtab_cursor* base) { return *reinterpret_cast<Cursor*>(base); }

int connect(sqlite3* database, void* data, int /*argc*/, const char* const* /*argv*/,
            sqlite3_vtab** out, char** /*error*/) {
  const auto& streamed = *static_cast<const Streamed*>(data);
  const std::string columns = fmt::format("CREATE TABLE x({})", streamed.table->columns);
  const int code = sqlite3_declare_vtab(database, columns.c_str());
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<Table>();
  table->streamed = streamed;
  *out = &table.release()->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* base) {
  delete &table_of(base);
  return SQLITE_OK;
}

// Going through it once is dear: it should be the outer loop of a join.
int best_index(sqlite3_vtab* /*table*/, sqlite3_index_info* info) {
  info->estimatedCost = kManyRows;
  info->estimatedRows = static_cast<sqlite3_int64>(kManyRows);
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab* /*base*/, sqlite3_vtab_cursor** out) {
  *out = &std::make_unique<Cursor>().release()->base;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* base) {
  delete &cursor_of(base);
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
  Cursor& cursor = cursor_of(base);
  const auto has_more = cursor.rows->next(cursor.row);
  if (!has_more) {
    base->pVtab->zErrMsg = sqlite3_mprintf("%s", has_more.error().message().c_str());
    return SQLITE_ERROR;
  }
  cursor.is_over = !*has_more;
  ++cursor.number;
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int /*number*/, const char* /*plan*/, int /*argc*/,
           sqlite3_value** /*argv*/) {
  Cursor& cursor = cursor_of(base);
  const Streamed& streamed = table_of(base->pVtab).streamed;
  cursor.rows = streamed.table->read(*streamed.run);
  cursor.number = 0;
  return next(base);
}

int eof(sqlite3_vtab_cursor* base) { return cursor_of(base).is_over ? 1 : 0; }

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int which) {
  const SqlValue& value = cursor_of(base).row[static_cast<size_t>(which)];
  if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (const auto* number = std::get_if<double>(&value)) {
    sqlite3_result_double(context, *number);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    sqlite3_result_int64(context, *whole);
  } else {
    sqlite3_result_null(context);
  }
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = cursor_of(base).number;
  return SQLITE_OK;
}

sqlite3_module streamed_module() {
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

Status add_streamed_table(sqlite3* database, const RunTable& table, const RunView& run) {
  static const sqlite3_module kModule = streamed_module();
  const std::string module = fmt::format("trainscope_{}", table.name);
  int code =
      sqlite3_create_module_v2(database, module.c_str(), &kModule, new Streamed{&table, &run},
                               [](void* data) { delete static_cast<Streamed*>(data); });
  const std::string replace =
      fmt::format("DROP TABLE {0}; CREATE VIRTUAL TABLE {0} USING {1}", table.name, module);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(database, replace.c_str(), nullptr, nullptr, nullptr);
  }
  return code == SQLITE_OK ? Status() : Error(sqlite3_errmsg(database));
}

}  // namespace trainscope
