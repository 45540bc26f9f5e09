// Virtual tables whose rows are read from the runs one by one, in their order, each time a query
// goes through them.
#include <fmt/format.h>

#include "store/sql/sql_tables.h"
#include "store/sql/virtual_table.h"

namespace trainscope {

namespace {

constexpr double kManyRows = 1e7;

class StreamedCursor : public VirtualCursor {
 public:
  StreamedCursor(const RunTable& table, const QueriedRuns& runs, int& passes)
      : table_(table), runs_(runs), passes_(passes) {}

  Status begin(const char* /*plan*/, std::span<sqlite3_value*> /*values*/) override {
    if (++passes_ > kMaxStreamedPasses) {
      return Error(fmt::format(
          "this query reads the table {0} again for each row of another table, and {0} is too long "
          "for that; use a window function such as lag(), or read it once: with t as materialized "
          "(select … from {0})",
          table_.name));
    }
    rows_ = read_rows(table_, runs_);
    return next();
  }
  Status next() override {
    TS_TRY(const bool has_more, rows_->next(row_));
    is_over_ = !has_more;
    return {};
  }
  bool is_over() const override { return is_over_; }
  void give_column(sqlite3_context* context, int which) override;

 private:
  const RunTable& table_;
  const QueriedRuns& runs_;
  int& passes_;  // over the table, by all cursors
  std::unique_ptr<Reader<SqlRow>> rows_;
  SqlRow row_;
  bool is_over_ = false;
};

void StreamedCursor::give_column(sqlite3_context* context, int which) {
  const SqlValue& value = row_[static_cast<size_t>(which)];
  if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (const auto* number = std::get_if<double>(&value)) {
    sqlite3_result_double(context, *number);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    sqlite3_result_int64(context, *whole);
  } else {
    sqlite3_result_null(context);
  }
}

class StreamedTable : public VirtualTable {
 public:
  StreamedTable(const RunTable& table, const QueriedRuns& runs) : table_(table), runs_(runs) {}

  std::string columns() const override { return columns_of(table_, runs_); }
  // Going through it once is dear: it should be the outer loop of a join.
  std::string plan(sqlite3_index_info& info) const override {
    info.estimatedCost = kManyRows;
    info.estimatedRows = static_cast<sqlite3_int64>(kManyRows);
    return {};
  }
  std::unique_ptr<VirtualCursor> open() override {
    return std::make_unique<StreamedCursor>(table_, runs_, passes_);
  }

 private:
  const RunTable& table_;
  const QueriedRuns& runs_;
  int passes_ = 0;
};

}  // namespace

Status add_streamed_table(sqlite3* database, const RunTable& table, const QueriedRuns& runs) {
  const std::string drop = fmt::format("DROP TABLE {}", table.name);
  if (sqlite3_exec(database, drop.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return Error(sqlite3_errmsg(database));
  }
  return add_virtual_table(database, table.name, std::make_unique<StreamedTable>(table, runs));
}

}  // namespace trainscope
