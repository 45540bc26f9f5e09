#include "cli/table.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace table_test {

TEST(table, columns_are_aligned_by_what_is_seen) {
  Table table({"name", ">size", "what"});
  table.add({"ü", "1", "a b"});
  table.add({"long", "100", "c"});
  EXPECT_EQ(table.text(false, 0, "  "),
            "  name  size  what\n"
            "  ü        1  a b\n"
            "  long   100  c\n");
}

TEST(table, the_last_column_gives_way) {
  Table table({"id", "command"});
  table.add({"1", "python train.py"});
  EXPECT_EQ(table.text(false, 12), "id  command\n1   python …\n");
}

TEST(table, values_have_units) {
  EXPECT_EQ(value_text(0.345, "1"), "34%");
  EXPECT_EQ(value_text(0.0345, "1"), "3.5%");
  EXPECT_EQ(value_text(1536, "By"), "1.50 KiB");
  EXPECT_EQ(value_text(2.4e9, "Hz"), "2.4 GHz");
  EXPECT_EQ(value_text(45.25, "Cel"), "45.2 °C");
  EXPECT_EQ(value_text(3, "{process}"), "3");
  EXPECT_EQ(value_text(1536, "By/s"), "1.50 KiB/s");
  EXPECT_EQ(value_text(15, "1/s"), "15/s");
  EXPECT_EQ(rate_text(2048, "By"), "2.00 KiB/s");
  EXPECT_EQ(rate_text(0.98, "s"), "0.98 s/s");
  EXPECT_EQ(rate_text(31, "J"), "31 W");
}

TEST(table, values_change_their_unit_when_they_are_rounded) {
  EXPECT_EQ(value_text(999.4, "Hz"), "999 Hz");
  EXPECT_EQ(value_text(999.6, "Hz"), "1 kHz");
  EXPECT_EQ(value_text(999.6e6, "Hz"), "1 GHz");
  EXPECT_EQ(value_text(999.6, "W"), "1 kW");
  EXPECT_EQ(value_text(0.00001, "J"), "0.000010 J");
  EXPECT_EQ(value_text(1'234'567, "{fault}"), "1.23M");
  EXPECT_EQ(rate_text(1234, "s"), "1234 s/s");
  EXPECT_EQ(rate_text(0.00001, "{fault}"), "0.000010/s");
  EXPECT_EQ(rate_text(-2000, "By"), "-2000 B/s");
}

TEST(table, commands_are_shown_as_one_would_type_them) {
  EXPECT_EQ(command_text({"sh", "-c", "exit 3", "it's", ""}), "sh -c 'exit 3' 'it'\\''s' ''");
  EXPECT_EQ(command_text({"a\x1b[31mb"}), "'a?[31mb'");
}

TEST(table, how_a_job_ended) {
  Manifest m;
  EXPECT_EQ(outcome_text(m, RunStatus::running), "running");
  EXPECT_EQ(outcome_text(m, RunStatus::ended), "unknown");
  m.ended_by = EndedBy::exit;
  m.exit_code = 7;
  EXPECT_EQ(outcome_text(m, RunStatus::ended), "7");
  m.ended_by = EndedBy::signal;
  m.signal = 9;
  EXPECT_EQ(outcome_text(m, RunStatus::ended), "SIGKILL");
}

}  // namespace table_test
}  // namespace trainscope
