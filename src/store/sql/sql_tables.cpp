#include "store/sql/sql_tables.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "model/model.h"
#include "model/training.h"

namespace trainscope {

namespace {

using RowReader = std::unique_ptr<Reader<SqlRow>>;

SqlValue sql_text(std::string_view text) {
  return text.empty() ? SqlValue() : SqlValue(std::string(text));
}

template <typename Number>
SqlValue sql_number(const std::optional<Number>& number) {
  return number ? SqlValue(*number) : SqlValue();
}

class ListedRows : public Reader<SqlRow> {
 public:
  explicit ListedRows(std::vector<SqlRow> rows) : rows_(std::move(rows)) {}
  Result<bool> next(SqlRow& row) override {
    if (at_ == rows_.size()) return false;
    row = std::move(rows_[at_++]);
    return true;
  }

 private:
  std::vector<SqlRow> rows_;
  size_t at_ = 0;
};

// The rows of one reader, then those of another.
class JoinedRows : public Reader<SqlRow> {
 public:
  JoinedRows(RowReader first, RowReader second)
      : first_(std::move(first)), second_(std::move(second)) {}
  Result<bool> next(SqlRow& row) override {
    TS_TRY(const bool has_more, first_->next(row));
    if (has_more) return true;
    return second_->next(row);
  }

 private:
  RowReader first_, second_;
};

// A row for each item.
template <typename Item>
class ReportedRows : public Reader<SqlRow> {
 public:
  using MakeRow = SqlRow (*)(const Item& item);
  ReportedRows(std::unique_ptr<Reader<Item>> items, MakeRow make_row)
      : items_(std::move(items)), make_row_(make_row) {}
  Result<bool> next(SqlRow& row) override {
    TS_TRY(const bool has_more, items_->next(item_));
    if (has_more) row = make_row_(item_);
    return has_more;
  }

 private:
  std::unique_ptr<Reader<Item>> items_;
  MakeRow make_row_;
  Item item_;
};

template <typename Item>
RowReader read_reported(const RunView& run,
                        std::unique_ptr<Reader<Item>> (TrainingDetails::*read)() const,
                        typename ReportedRows<Item>::MakeRow make_row) {
  const auto& details = run.training().details;
  if (details == nullptr) return std::make_unique<ListedRows>(std::vector<SqlRow>());
  return std::make_unique<ReportedRows<Item>>((*details.*read)(), make_row);
}

template <typename Item, typename MakeRow>
RowReader read_list(const std::vector<Item>& items, const MakeRow& make_row) {
  std::vector<SqlRow> rows;
  for (const Item& item : items) rows.push_back(make_row(item));
  return std::make_unique<ListedRows>(std::move(rows));
}

RowReader read_phases(const RunView& run) {
  auto own = read_list(run.manifest().phases, [](const Phase& p) {
    return SqlRow{p.name, SqlValue(), p.from_s, sql_number(p.to_s)};
  });
  auto reported =
      read_reported<TrainingPhase>(run, &TrainingDetails::phases, [](const TrainingPhase& p) {
        return SqlRow{p.name, sql_text(p.who), p.from_s, p.to_s};
      });
  return std::make_unique<JoinedRows>(std::move(own), std::move(reported));
}

SqlRow describe_run(const RunView& run) {
  const Manifest& m = run.manifest();
  const bool is_repeat = !m.repeat.group.empty();
  return {is_repeat ? SqlValue(m.repeat.index) : SqlValue(),
          sql_text(m.name),
          sql_text(m.host_name),
          sql_text(m.started),
          SqlValue(run.duration_s()),
          m.exit_code ? SqlValue(int64_t{*m.exit_code}) : SqlValue(),
          sql_number(m.steps)};
}

constexpr RunTable kTables[] = {
    {"metrics", "name TEXT, labels TEXT, unit TEXT, kind TEXT, status TEXT, reason TEXT",
     "the series of the run; status: ok, absent (with the reason) or stale", false,
     [](const RunView& run) {
       return read_list(run.series(), [](const Series& s) {
         return SqlRow{s.metric,
                       labels_text(s.labels),
                       s.unit,
                       std::string(kind_name(s.kind)),
                       std::string(status_name(s.status)),
                       sql_text(s.reason)};
       });
     }},
    {"steps",
     "step INTEGER, time_s REAL, duration_s REAL, loss REAL, accuracy REAL, kind TEXT, "
     "covers INTEGER",
     "reported training steps; kind: warmup or step; covers: how many steps the row stands for, of "
     "which duration_s is the mean",
     true,
     [](const RunView& run) {
       return read_reported<Step>(run, &TrainingDetails::steps, [](const Step& s) {
         return SqlRow{s.step,
                       s.time_s,
                       sql_number(s.duration_s),
                       sql_number(s.loss),
                       sql_number(s.accuracy),
                       std::string(s.kind),
                       s.covers};
       });
     }},
    {"phases", "name TEXT, who TEXT, from_s REAL, to_s REAL",
     "phases of the run (job, after) and those that the job reported; who: the reporting thread",
     true, read_phases},
    {"numbers", "name TEXT, set_name TEXT, time_s REAL, step INTEGER, value REAL",
     "every reported number, such as loss and accuracy; set_name: train, validation or test", true,
     [](const RunView& run) {
       return read_reported<TrainingNumber>(
           run, &TrainingDetails::numbers, [](const TrainingNumber& n) {
             return SqlRow{n.name, n.set, n.time_s, sql_number(n.step), n.value};
           });
     }},
    {"events", "time_s REAL, kind TEXT, text TEXT",
     "what happened during the recording, and marks that the job reported", false,
     [](const RunView& run) {
       return read_list(run.events(), [](const Event& e) {
         return SqlRow{e.time_s, e.kind, e.text};
       });
     }},
    {"gaps", "from_s REAL, to_s REAL, reason TEXT",
     "where three or more samples in a row are missing, or something is damaged", false,
     [](const RunView& run) {
       return read_list(run.sampling().gaps, [](const Gap& g) {
         return SqlRow{g.from_s, g.to_s, g.reason};
       });
     }},
    {"runs",
     "repeat INTEGER, name TEXT, host TEXT, started TEXT, duration_s REAL, exit_code INTEGER, "
     "steps INTEGER",
     "the runs of the group", false,
     [](const RunView& run) -> RowReader {
       return std::make_unique<ListedRows>(std::vector<SqlRow>{describe_run(run)});
     },
     true},
};

// One run is open at a time.
class RowsOfRuns : public Reader<SqlRow> {
 public:
  RowsOfRuns(const RunTable& table, const QueriedRuns& runs) : table_(table), runs_(runs) {}
  Result<bool> next(SqlRow& row) override {
    for (; at_ < runs_.size(); ++at_) {
      if (rows_ == nullptr) {
        TS_TRY(run_, runs_.open(at_));
        rows_ = table_.read(*run_);
      }
      TS_TRY(const bool has_more, rows_->next(row));
      if (has_more) {
        add_first_columns(row);
        return true;
      }
      rows_.reset();
      run_.reset();
    }
    return false;
  }

 private:
  void add_first_columns(SqlRow& row) const {
    if (!runs_.is_group()) return;
    const Manifest& m = runs_.manifest(at_);
    row.insert(row.begin(), {SqlValue(m.id), SqlValue(m.rank)});
  }

  const RunTable& table_;
  const QueriedRuns& runs_;
  size_t at_ = 0;
  std::shared_ptr<const RunView> run_;
  RowReader rows_;  // of run_
};

Result<int64_t> reports_of_runs(const QueriedRuns& runs) {
  int64_t count = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    TS_TRY(const auto run, runs.open(i));
    count += run->training().reports;
  }
  return count;
}

Status execute(sqlite3* database, const std::string& statement) {
  const bool is_done =
      sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  return is_done ? Status() : Error(sqlite3_errmsg(database));
}

void bind_value(sqlite3_stmt* statement, int at, const SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (const auto* number = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement, at, *number);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    sqlite3_bind_int64(statement, at, *whole);
  } else {
    sqlite3_bind_null(statement, at);
  }
}

Status insert_rows(sqlite3* database, sqlite3_stmt* insert, Reader<SqlRow>& rows) {
  for (SqlRow row;;) {
    TS_TRY(const bool has_more, rows.next(row));
    if (!has_more) return {};
    for (size_t i = 0; i < row.size(); ++i) bind_value(insert, static_cast<int>(i) + 1, row[i]);
    if (sqlite3_step(insert) != SQLITE_DONE) return Error(sqlite3_errmsg(database));
    sqlite3_reset(insert);
  }
}

Status fill_table(sqlite3* database, const RunTable& table, const QueriedRuns& runs) {
  std::string places = "?";
  for (const char c : columns_of(table, runs)) places += c == ',' ? ",?" : "";
  const std::string text = fmt::format("INSERT INTO {} VALUES({})", table.name, places);
  TS_CHECK_OK(execute(database, "BEGIN"));
  sqlite3_stmt* insert = nullptr;
  if (sqlite3_prepare_v2(database, text.c_str(), -1, &insert, nullptr) != SQLITE_OK) {
    return Error(sqlite3_errmsg(database));
  }
  const Status inserted = insert_rows(database, insert, *read_rows(table, runs));
  sqlite3_finalize(insert);
  if (!inserted) return inserted.error();
  return execute(database, "COMMIT");
}

}  // namespace

std::span<const RunTable> run_tables() { return kTables; }

std::string columns_of(const RunTable& table, const QueriedRuns& runs) {
  return std::string(runs.first_columns()) + table.columns;
}

std::unique_ptr<Reader<SqlRow>> read_rows(const RunTable& table, const QueriedRuns& runs) {
  return std::make_unique<RowsOfRuns>(table, runs);
}

Status create_run_tables(sqlite3* database, const QueriedRuns& runs) {
  for (const RunTable& table : kTables) {
    if (table.is_of_group && !runs.is_group()) continue;
    TS_CHECK_OK(
        execute(database, fmt::format("CREATE TABLE {}({})", table.name, columns_of(table, runs))));
  }
  return {};
}

Status provide_run_tables(sqlite3* database, const QueriedRuns& runs,
                          const std::set<std::string>& names, int64_t most_filled) {
  std::optional<int64_t> reports;  // counted when a table of them is read
  for (const RunTable& table : kTables) {
    if (!names.contains(table.name) || (table.is_of_group && !runs.is_group())) continue;
    if (table.is_reported && !reports) {
      TS_TRY(reports, reports_of_runs(runs));
    }
    const bool is_streamed = table.is_reported && *reports > most_filled;
    TS_CHECK_OK(is_streamed ? add_streamed_table(database, table, runs)
                            : fill_table(database, table, runs));
  }
  return {};
}

}  // namespace trainscope
