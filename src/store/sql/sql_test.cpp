#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/fd.h"
#include "store/read/run_fixture.h"
#include "store/sql/sql.h"
#include "store/store.h"

namespace trainscope {
namespace sql_test {

std::unique_ptr<RunView> sample_run() {
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a",
              {{"a", {{"x", "1"}}, "s", Kind::counter, {1, 10}},
               {"a", {{"x", "2"}}, "s", Kind::counter, {1, 10}},
               {"b", {}, "By", Kind::gauge, {}}},
              {{{"metric", "c"}, {"unit", "W"}, {"kind", "gauge"}, {"reason", "no, \"none\""}}})
      .times(0, 1, {{0, 0}, {1, 0}, {2, 0}, {6, 0}})
      .values(1, 1, {{10, 0, 5}, {20, 1, kAbsent}, {30, 2, 7}, {40, 3, 8}})
      .event(0.15, "mark", "x");
  return open_fixture(fixture_files({file.bytes()}, 0.65));
}

std::string ask(const std::string& query) {
  std::string out;
  const auto run = sample_run();
  const Status done = run_sql(*run, query, [&](std::string_view text) -> Status {
    out += text;
    return {};
  });
  if (!done) return "error: " + done.error().message();
  std::string lines;
  for (const char c : out) {
    if (c == '\r') continue;
    lines += c == '\n' ? '|' : c;
  }
  return lines;
}

TEST(sql, samples_are_the_present_values) {
  EXPECT_EQ(ask("select count(*) as n, count(distinct metric) as m from samples"), "n,m|15,3|");
  EXPECT_EQ(ask("select time_s, value from samples where metric = 'b' order by 1"),
            "time_s,value|0,5|0.2,7|0.6,8|");
}

// All rows of `samples`, of which so many bytes are held at a time.
std::string all_samples(const QueriedRuns& runs, double held_bytes, const std::string& condition) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  EXPECT_TRUE(add_samples_table(database, runs, held_bytes));
  std::string text;
  const auto add = [](void* out, int columns, char** values, char** /*names*/) {
    for (int c = 0; c < columns; ++c)
      *static_cast<std::string*>(out) += std::string(values[c]) + ",";
    *static_cast<std::string*>(out) += "|";
    return 0;
  };
  const std::string query = "select labels, time_s, value from samples" + condition;
  EXPECT_EQ(sqlite3_exec(database, query.c_str(), add, &text, nullptr), SQLITE_OK);
  sqlite3_close(database);
  return text;
}

// A series that is too long to be held is read in several ranges of time, the others together.
TEST(sql, rows_do_not_depend_on_how_many_are_held) {
  const auto run = sample_run();
  for (const char* condition :
       {"", " where metric = 'a'", " where time_s >= 0.1 and time_s < 0.6"}) {
    const std::string all = all_samples(OneQueriedRun(*run), kSamplesBytes, condition);
    EXPECT_FALSE(all.empty());
    for (const double bytes : {1.0, 20.0, 40.0, 70.0, 150.0}) {
      EXPECT_EQ(all_samples(OneQueriedRun(*run), bytes, condition), all) << bytes << condition;
    }
  }
}

// A run that remembers how many points were asked for at once.
class CountingRun : public RunView {
 public:
  explicit CountingRun(std::unique_ptr<RunView> run) : run_(std::move(run)) {}

  const Manifest& manifest() const override { return run_->manifest(); }
  const std::string& path() const override { return run_->path(); }
  RunStatus status() const override { return run_->status(); }
  double duration_s() const override { return run_->duration_s(); }
  const std::string& host_json() const override { return run_->host_json(); }
  const std::vector<Series>& series() const override { return run_->series(); }
  const std::vector<Series>& recorded_series() const override { return run_->recorded_series(); }
  Result<Points> points(size_t i, const Range& range) const override {
    return run_->points(i, range);
  }
  Result<Summary> summary(size_t i) const override { return run_->summary(i); }
  Result<std::vector<Points>> points_of(const std::vector<size_t>& series,
                                        const Range& range) const override {
    auto all = run_->points_of(series, range);
    if (!all) return all;
    size_t count = 0;
    for (const Points& points : *all) count += points.time_s.size();
    most_points = std::max(most_points, count);
    return all;
  }
  const Sampling& sampling() const override { return run_->sampling(); }
  Overhead overhead() const override { return run_->overhead(); }
  const std::vector<Event>& events() const override { return run_->events(); }
  const Training& training() const override { return run_->training(); }

  mutable size_t most_points = 0;

 private:
  std::unique_ptr<RunView> run_;
};

// Steps may come much faster than samples.
TEST(sql, samples_of_the_training_are_not_held_together_either) {
  std::string lines = "0\n";
  for (int i = 1; i <= 1000; ++i) lines += fmt::format("{} pipe step {} loss=1\n", i * kMs, i);
  FixtureFile file;
  file.schema(1, 0, 100 * kMs, "a", {{"b", {}, "By", Kind::gauge, {}}})
      .times(0, 1, {{0, 0}, {1, 0}, {2, 0}})
      .values(1, 1, {{5}, {6}, {7}})
      .frame(FrameType::step, lines);
  const CountingRun run(open_fixture(fixture_files({file.bytes()}, 1)));
  const std::string all = all_samples(OneQueriedRun(run), kSamplesBytes, "");
  EXPECT_GT(run.most_points, 2000U);
  run.most_points = 0;
  EXPECT_EQ(all_samples(OneQueriedRun(run), 17.0 * 100, ""), all);
  EXPECT_LT(run.most_points, 200U);
}

// Constraints that are pushed down must not change a result.
TEST(sql, constraints_give_what_a_full_scan_gives) {
  EXPECT_EQ(ask("select count(*) from samples where metric = 'a' and labels = 'x=2'"),
            "count(*)|4|");
  EXPECT_EQ(ask("select count(*) from samples where metric = 'A'"), "count(*)|0|");
  EXPECT_EQ(ask("select count(*) from samples where metric = 'A' collate nocase"), "count(*)|8|");
  EXPECT_EQ(ask("select count(*) from samples where metric in ('a', 'b') and time_s <= 0.1"),
            "count(*)|5|");
  EXPECT_EQ(ask("select count(*) from samples where time_s < 0.2 and time_s > 0"), "count(*)|3|");
  EXPECT_EQ(ask("select count(*) from samples where time_s = 0.6"), "count(*)|4|");
  EXPECT_EQ(ask("select count(*) from samples where time_s between 0.1 and 0.2"), "count(*)|7|");
  EXPECT_EQ(ask("select count(*) from samples s join metrics m on s.metric = m.name and s.labels = "
                "m.labels where m.kind = 'counter'"),
            "count(*)|8|");
  EXPECT_EQ(ask("select count(*) from samples where metric = null"), "count(*)|0|");
}

TEST(sql, the_other_tables) {
  EXPECT_EQ(ask("select name, status, reason from metrics where name = 'c'"),
            "name,status,reason|c,absent,\"no, \"\"none\"\"\"|");
  EXPECT_EQ(ask("select * from events"), "time_s,kind,text|0.15,mark,x|");
  EXPECT_EQ(ask("select * from gaps"), "from_s,to_s,reason|0.3,0.6,the recorder did not run|");
  EXPECT_EQ(ask("select * from steps"), "step,time_s,duration_s,loss,accuracy,kind,covers|");
}

// The rows of a query as "a,b,|"; tables of more reports than this are read from the run.
std::string ask_of(const RunView& run, const std::string& query, int64_t most_filled) {
  std::string out;
  const auto add = [&](const std::vector<SqlValue>& row) -> Status {
    for (const SqlValue& value : row) {
      std::visit(
          [&](const auto& v) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
              out += fmt::format("{}", v);
            }
          },
          value);
      out += ",";
    }
    out += "|";
    return {};
  };
  const SqlOutput output = {[](const auto&) { return Status(); }, add};
  const Status done = query_sql(run, query, output, most_filled);
  return done ? out : "error: " + done.error().message();
}

// The same rows, whether a table is filled or read from the run.
TEST(sql, reported_tables_may_be_streamed) {
  FixtureFile file;
  file.frame(FrameType::step,
             "0\n1000000000 pipe step 1 loss=0.5\n1250000000 pipe phase input 0.125\n"
             "2000000000 pipe step 2 loss=0.25\n2500000000 pipe phase save 0.25 who=other\n");
  const auto run = open_fixture(fixture_files({file.bytes()}, 3));
  for (const int64_t most_filled : {int64_t{0}, kMaxFilledReports}) {
    const auto ask = [&](const std::string& query) { return ask_of(*run, query, most_filled); };
    SCOPED_TRACE(most_filled);
    EXPECT_EQ(ask("select sql like 'create virtual%' from sqlite_master, (select 1 from steps) "
                  "where name = 'steps' limit 1"),
              most_filled == 0 ? "1,|" : "0,|");
    EXPECT_EQ(ask("select * from steps"), "1,1,,0.5,,step,1,|2,2,1,0.25,,step,1,|");
    EXPECT_EQ(ask("select * from phases"), "input,,1.125,1.25,|save,other,2.25,2.5,|");
    EXPECT_EQ(ask("select name, set_name, step, value from numbers"),
              "loss,train,1,0.5,|loss,train,2,0.25,|");
    EXPECT_EQ(ask("select count(*), min(kind) from steps s, steps t where s.step = t.step"),
              "error: ambiguous column name: kind");
    EXPECT_EQ(ask("select count(*), max(s.time_s) from steps s join steps t on s.step = t.step"),
              "2,2,|");
    EXPECT_EQ(ask("delete from steps").substr(0, 6), "error:");
    EXPECT_EQ(ask("select 1 from steps limit 1"), "1,|");
  }
}

// A join would read all reports again for every row: it ends with an error that says what to do.
TEST(sql, a_table_that_is_streamed_is_not_read_for_each_row) {
  std::string lines = "0\n";
  for (int64_t i = 1; i <= 50; ++i) lines += fmt::format("{} pipe step {}\n", i * 100'000'000, i);
  FixtureFile file;
  file.frame(FrameType::step, lines);
  const auto run = open_fixture(fixture_files({file.bytes()}, 6));
  const std::string join = "select count(*) from {} a join {} b on b.step = a.step + 1";
  const std::string direct = fmt::format(fmt::runtime(join), "steps", "steps");
  const std::string once = "with t as materialized (select step from steps) " +
                           fmt::format(fmt::runtime(join), "t", "t");
  const std::string window =
      "select count(*) from (select step - lag(step) over (order by step) as d from steps) "
      "where d = 1";
  EXPECT_EQ(ask_of(*run, direct, kMaxFilledReports), "49,|");
  const std::string error = ask_of(*run, direct, 0);
  EXPECT_NE(error.find("error: this query reads the table steps again for each row"),
            std::string::npos)
      << error;
  EXPECT_EQ(ask_of(*run, once, 0), "49,|");
  EXPECT_EQ(ask_of(*run, window, 0), "49,|");
}

// Two runs of a job as a group, without a folder.
class FixtureGroup : public QueriedRuns {
 public:
  FixtureGroup() {
    for (const int64_t rank : {0, 1}) {
      FixtureFile file;
      const std::vector<FixtureColumn> columns = {
          FixtureColumn{"a", {{"x", std::to_string(rank)}}, "1", Kind::gauge, {}}};
      file.schema(1, 0, 100 * kMs, "a", columns)
          .times(0, 1, {{0, 0}, {1, 0}})
          .values(1, 1, {{10 + rank}, {20 + rank}})
          .frame(FrameType::step, "0\n1000000000 pipe step 1\n2000000000 pipe step 2\n");
      RunFiles files = fixture_files({file.bytes()}, 3);
      files.manifest.id = rank == 0 ? "0000000000" : "1111111111";
      files.manifest.rank = rank;
      runs_.push_back(open_fixture(std::move(files)));
    }
  }
  bool is_group() const override { return true; }
  size_t size() const override { return runs_.size(); }
  const Manifest& manifest(size_t at) const override { return runs_[at]->manifest(); }
  Result<std::shared_ptr<const RunView>> open(size_t at) const override { return runs_[at]; }

 private:
  std::vector<std::shared_ptr<const RunView>> runs_;
};

std::string ask_group(const std::string& query, int64_t most_filled = kMaxFilledReports) {
  std::string out;
  const auto add = [&](const std::vector<SqlValue>& row) -> Status {
    for (const SqlValue& value : row) {
      if (const auto* text = std::get_if<std::string>(&value)) out += *text;
      if (const auto* number = std::get_if<double>(&value)) out += fmt::format("{}", *number);
      if (const auto* whole = std::get_if<int64_t>(&value)) out += fmt::format("{}", *whole);
      out += ",";
    }
    out += "|";
    return {};
  };
  const FixtureGroup group;
  const SqlOutput output = {[](const auto&) { return Status(); }, add};
  const Status done = query_runs(group, query, output, most_filled);
  return done ? out : "error: " + done.error().message();
}

TEST(sql, tables_of_a_group_begin_with_run_and_rank) {
  const std::string all =
      "0000000000,0,0,a,x=0,10,|0000000000,0,0.1,a,x=0,20,|1111111111,1,0,a,x=1,11,|"
      "1111111111,1,0.1,a,x=1,21,|";
  EXPECT_EQ(ask_group("select * from samples where metric = 'a'"), all);
  EXPECT_EQ(ask_group("select value from samples where metric = 'a' and rank = 1"), "11,|21,|");
  EXPECT_EQ(ask_group("select value from samples where metric = 'a' and run = '0000000000'"),
            "10,|20,|");
  EXPECT_EQ(ask_group("select value from samples where labels = 'x=1' and time_s > 0"), "21,|");
  EXPECT_EQ(ask_group("select count(*) from samples where rowid = 0 and metric = 'a'"), "1,|");
  EXPECT_EQ(ask_group("select run, rank, steps from runs"), "0000000000,0,,|1111111111,1,,|");
}

TEST(sql, reported_tables_of_a_group_may_be_streamed) {
  for (const int64_t most_filled : {int64_t{0}, kMaxFilledReports}) {
    SCOPED_TRACE(most_filled);
    EXPECT_EQ(ask_group("select run, rank, step from steps", most_filled),
              "0000000000,0,1,|0000000000,0,2,|1111111111,1,1,|1111111111,1,2,|");
  }
}

TEST(sql, rows_of_a_group_do_not_depend_on_how_many_are_held) {
  for (const double bytes : {1.0, 20.0, 40.0, kSamplesBytes}) {
    EXPECT_EQ(all_samples(FixtureGroup(), bytes, " where metric = 'a'"),
              "x=0,0.0,10.0,|x=0,0.1,20.0,|x=1,0.0,11.0,|x=1,0.1,21.0,|")
        << bytes;
  }
}

// A pass goes through all runs of the group.
TEST(sql, a_streamed_table_of_a_group_is_not_read_for_each_row) {
  const std::string pairs = "select count(*) from steps a cross join steps b";
  EXPECT_EQ(ask_group(pairs, 0), "16,|");
  EXPECT_EQ(ask_group(pairs + " cross join steps c"), "64,|");
  EXPECT_EQ(ask_group(pairs + " cross join steps c", 0).substr(0, 41),
            "error: this query reads the table steps a");
}

TEST(sql, the_table_of_runs_is_only_in_groups) {
  EXPECT_EQ(ask("select * from runs"), "error: no such table: runs");
  ASSERT_EQ(group_sql_tables().size(), 1U);
  const SqlTable table = group_sql_tables()[0];
  EXPECT_EQ(ask_group("select " + table.columns + " from " + table.name).substr(0, 6), "000000");
}

// Help and reference list them as they can be queried.
TEST(sql, every_listed_table_has_the_listed_columns) {
  const std::vector<SqlTable> tables = sql_tables();
  EXPECT_EQ(tables.size(), 7U);
  for (const SqlTable& table : tables) {
    const std::string query = fmt::format("select {} from {}", table.columns, table.name);
    std::string heading = table.columns;
    std::erase(heading, ' ');
    EXPECT_EQ(ask(query).substr(0, heading.size() + 1), heading + "|");
    EXPECT_FALSE(table.help.empty());
  }
}

TEST(sql, the_command_after_the_job_is_a_phase) {
  FixtureFile file;
  RunFiles files = fixture_files({file.bytes()}, 3);
  files.manifest.phases = {{"job", 0, 2}, {"after", 2, 3}};
  const auto run = open_fixture(std::move(files));
  std::string out;
  ASSERT_TRUE(run_sql(*run, "select * from phases", [&](std::string_view text) -> Status {
    out += text;
    return {};
  }));
  EXPECT_EQ(out, "name,who,from_s,to_s\r\njob,,0,2\r\nafter,,2,3\r\n");
}

// A table is filled when a query reads it, however it names it.
TEST(sql, a_table_is_filled_however_it_is_named) {
  EXPECT_EQ(ask("select count(*) from EVENTS"), "count(*)|1|");
  EXPECT_EQ(ask("with e as (select kind from events as x) select kind from e"), "kind|mark|");
  EXPECT_EQ(ask("select 1 as a where exists (select 1 from gaps)"), "a|1|");
  EXPECT_EQ(ask("select count(*) from samples, main.events where metric = 'b'"), "count(*)|3|");
}

TEST(sql, null_is_empty_and_empty_text_is_quoted) {
  EXPECT_EQ(ask("select null as a, '' as b, 'x,y' as c, 1.5 as d"), "a,b,c,d|,\"\",\"x,y\",1.5|");
}

TEST(sql, only_reading_is_allowed) {
  const std::string file = "/tmp/ts-sql-must-not-exist";
  for (const std::string& query :
       {"attach '" + file + "' as x", "vacuum into '" + file + "'",
        std::string("drop table metrics"), std::string("insert into metrics(name) values('x')"),
        std::string("create table t(a)"), std::string("pragma temp_store_directory='/tmp'"),
        std::string("delete from events"), std::string("select load_extension('x')"),
        std::string("begin")}) {
    EXPECT_EQ(ask(query).substr(0, 6), "error:") << query;
  }
  EXPECT_FALSE(exists(file));
}

TEST(sql, errors_are_in_the_words_of_sqlite) {
  EXPECT_EQ(ask("select missing from samples"), "error: no such column: missing");
  EXPECT_EQ(ask(""), "error: the query is empty");
  EXPECT_EQ(ask("select 1; select 2"), "error: one statement at a time");
  EXPECT_EQ(ask("select 1 as a; "), "a|1|");
}

}  // namespace sql_test
}  // namespace trainscope
