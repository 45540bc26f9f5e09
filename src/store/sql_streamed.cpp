// Virtual tables whose rows are read from the runs one by one, in their order, each time a query
// goes through them.
#include <fmt/format.h>
#include <sqlite3.h>

#include "store/sql_tables.h"

namespace trainscope {

namespace {

constexpr double kManyRows = 1e7;

// What SQLite hands to connect().
struct Streamed {
  const RunTable* table = nullptr;
  const QueriedRuns* runs = nullptr;
};

struct StreamedTable {
  sqlite3_vtab base{};  // must be first
  Streamed streamed;
};

struct StreamedCursor {
  sqlite3_vtab_cursor base{};  // must be first
  std::unique_ptr<Reader<SqlRow>> rows;
  SqlRow row;
  sqlite3_int64 number = 0;
  bool is_over = false;
};

StreamedTable& streamed_table_of(sqlite3_vtab* base) {
  return *reinterpret_cast<StreamedTable*>(base);
}
StreamedCursor& streamed_cursor_of(sqlite3_vtab_cursor* base) {
  return *reinterpret_cast<StreamedCursor*>(base);
}

int streamed_connect(sqlite3* database, void* data, int /*argc*/, const char* const* /*argv*/,
                     sqlite3_vtab** out, char** /*error*/) {
  const auto& streamed = *static_cast<const Streamed*>(data);
  const std::string columns =
      fmt::format("CREATE TABLE x({})", columns_of(*streamed.table, *streamed.runs));
  const int code = sqlite3_declare_vtab(database, columns.c_str());
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<StreamedTable>();
  table->streamed = streamed;
  *out = &table.release()->base;
  return SQLITE_OK;
}

int streamed_disconnect(sqlite3_vtab* base) {
  delete &streamed_table_of(base);
  return SQLITE_OK;
}

// Going through it once is dear: it should be the outer loop of a join.
int streamed_best_index(sqlite3_vtab* /*table*/, sqlite3_index_info* info) {
  info->estimatedCost = kManyRows;
  info->estimatedRows = static_cast<sqlite3_int64>(kManyRows);
  return SQLITE_OK;
}

int streamed_open_cursor(sqlite3_vtab* /*base*/, sqlite3_vtab_cursor** out) {
  *out = &std::make_unique<StreamedCursor>().release()->base;
  return SQLITE_OK;
}

int streamed_close_cursor(sqlite3_vtab_cursor* base) {
  delete &streamed_cursor_of(base);
  return SQLITE_OK;
}

int streamed_next(sqlite3_vtab_cursor* base) {
  StreamedCursor& cursor = streamed_cursor_of(base);
  const auto has_more = cursor.rows->next(cursor.row);
  if (!has_more) {
    base->pVtab->zErrMsg = sqlite3_mprintf("%s", has_more.error().message().c_str());
    return SQLITE_ERROR;
  }
  cursor.is_over = !*has_more;
  ++cursor.number;
  return SQLITE_OK;
}

int streamed_filter(sqlite3_vtab_cursor* base, int /*number*/, const char* /*plan*/, int /*argc*/,
                    sqlite3_value** /*argv*/) {
  StreamedCursor& cursor = streamed_cursor_of(base);
  const Streamed& streamed = streamed_table_of(base->pVtab).streamed;
  cursor.rows = read_rows(*streamed.table, *streamed.runs);
  cursor.number = 0;
  return streamed_next(base);
}

int streamed_eof(sqlite3_vtab_cursor* base) { return streamed_cursor_of(base).is_over ? 1 : 0; }

int streamed_column(sqlite3_vtab_cursor* base, sqlite3_context* context, int which) {
  const SqlValue& value = streamed_cursor_of(base).row[static_cast<size_t>(which)];
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

int streamed_rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = streamed_cursor_of(base).number;
  return SQLITE_OK;
}

sqlite3_module streamed_module() {
  sqlite3_module module{};
  module.xCreate = streamed_connect;
  module.xConnect = streamed_connect;
  module.xBestIndex = streamed_best_index;
  module.xDisconnect = streamed_disconnect;
  module.xDestroy = streamed_disconnect;
  module.xOpen = streamed_open_cursor;
  module.xClose = streamed_close_cursor;
  module.xFilter = streamed_filter;
  module.xNext = streamed_next;
  module.xEof = streamed_eof;
  module.xColumn = streamed_column;
  module.xRowid = streamed_rowid;
  return module;
}

}  // namespace

Status add_streamed_table(sqlite3* database, const RunTable& table, const QueriedRuns& runs) {
  static const sqlite3_module kModule = streamed_module();
  const std::string module = fmt::format("trainscope_{}", table.name);
  int code =
      sqlite3_create_module_v2(database, module.c_str(), &kModule, new Streamed{&table, &runs},
                               [](void* data) { delete static_cast<Streamed*>(data); });
  const std::string replace =
      fmt::format("DROP TABLE {0}; CREATE VIRTUAL TABLE {0} USING {1}", table.name, module);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(database, replace.c_str(), nullptr, nullptr, nullptr);
  }
  return code == SQLITE_OK ? Status() : Error(sqlite3_errmsg(database));
}

}  // namespace trainscope
