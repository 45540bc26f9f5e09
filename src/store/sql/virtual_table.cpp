#include "store/sql/virtual_table.h"

#include <fmt/format.h>

namespace trainscope {

namespace {

struct ConnectedTable {
  sqlite3_vtab base{};  // must be first
  VirtualTable* table = nullptr;
};

struct OpenCursor {
  sqlite3_vtab_cursor base{};  // must be first
  std::unique_ptr<VirtualCursor> rows;
  sqlite3_int64 row = 0;
};

ConnectedTable& connected(sqlite3_vtab* base) { return *reinterpret_cast<ConnectedTable*>(base); }
OpenCursor& opened(sqlite3_vtab_cursor* base) { return *reinterpret_cast<OpenCursor*>(base); }

int connect_table(sqlite3* database, void* data, int /*argc*/, const char* const* /*argv*/,
                  sqlite3_vtab** out, char** /*error*/) {
  auto* table = static_cast<VirtualTable*>(data);
  const std::string declaration = fmt::format("CREATE TABLE x({})", table->columns());
  const int code = sqlite3_declare_vtab(database, declaration.c_str());
  if (code != SQLITE_OK) return code;
  auto result = std::make_unique<ConnectedTable>();
  result->table = table;
  *out = &result.release()->base;
  return SQLITE_OK;
}

int disconnect_table(sqlite3_vtab* base) {
  delete &connected(base);
  return SQLITE_OK;
}

int plan_query(sqlite3_vtab* base, sqlite3_index_info* info) {
  const std::string plan = connected(base).table->plan(*info);
  info->idxStr = sqlite3_mprintf("%s", plan.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** out) {
  auto cursor = std::make_unique<OpenCursor>();
  cursor->rows = connected(base).table->open();
  *out = &cursor.release()->base;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* base) {
  delete &opened(base);
  return SQLITE_OK;
}

int code_of(const Status& status, sqlite3_vtab_cursor* base) {
  if (status) return SQLITE_OK;
  base->pVtab->zErrMsg = sqlite3_mprintf("%s", status.error().message().c_str());
  return SQLITE_ERROR;
}

int begin_rows(sqlite3_vtab_cursor* base, int /*number*/, const char* plan, int argc,
               sqlite3_value** argv) {
  opened(base).row = 0;
  return code_of(opened(base).rows->begin(plan, {argv, static_cast<size_t>(argc)}), base);
}

int next_row(sqlite3_vtab_cursor* base) {
  ++opened(base).row;
  return code_of(opened(base).rows->next(), base);
}

int is_over(sqlite3_vtab_cursor* base) { return opened(base).rows->is_over() ? 1 : 0; }

int give_column(sqlite3_vtab_cursor* base, sqlite3_context* context, int which) {
  opened(base).rows->give_column(context, which);
  return SQLITE_OK;
}

int give_rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = opened(base).row;
  return SQLITE_OK;
}

sqlite3_module table_module() {
  sqlite3_module module{};
  module.xCreate = connect_table;
  module.xConnect = connect_table;
  module.xBestIndex = plan_query;
  module.xDisconnect = disconnect_table;
  module.xDestroy = disconnect_table;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = begin_rows;
  module.xNext = next_row;
  module.xEof = is_over;
  module.xColumn = give_column;
  module.xRowid = give_rowid;
  return module;
}

}  // namespace

Status add_virtual_table(sqlite3* database, const std::string& name,
                         std::unique_ptr<VirtualTable> table) {
  static const sqlite3_module kModule = table_module();
  const std::string module = "trainscope_" + name;
  int code = sqlite3_create_module_v2(database, module.c_str(), &kModule, table.release(),
                                      [](void* data) { delete static_cast<VirtualTable*>(data); });
  const std::string create = fmt::format("CREATE VIRTUAL TABLE {} USING {}", name, module);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(database, create.c_str(), nullptr, nullptr, nullptr);
  }
  return code == SQLITE_OK ? Status() : Error(sqlite3_errmsg(database));
}

}  // namespace trainscope
