#include <gtest/gtest.h>

#include "analyze/analyze.h"
#include "analyze/support/planted_run.h"

namespace trainscope {
namespace instrument_hint_test {

std::string hint(std::vector<std::string> command, const char* framework = "") {
  FakeRun run(0.1, 10);
  if (*framework != '\0') run.add_event({1, "framework", framework});
  run.set_command(std::move(command));
  return instrument_command(run);
}

TEST(InstrumentHint, is_a_command_to_paste) {
  EXPECT_EQ(hint({"/usr/bin/python3", "train.py", "--name", "it's"}),
            "trainscope run --instrument -- /usr/bin/python3 train.py --name 'it'\\''s'");
  EXPECT_EQ(
      hint({"python3", "-c", "import a\nprint('b\\n')\t\x1b"}),
      "trainscope run --instrument -- python3 -c $'import a\\nprint(\\'b\\\\n\\')\\x09\\x1b'");
  EXPECT_EQ(hint({"sleep", "5"}), "") << "no Python";
  EXPECT_EQ(hint({"uv", "run", "train.py"}, "torch"),
            "trainscope run --instrument -- uv run train.py");
}

TEST(InstrumentHint, is_not_what_was_done_already) {
  for (const char* const value : {"true", "1", "Yes", "on", "0", ""}) {
    FakeRun run(0.1, 10);
    run.set_command({"python3", "train.py"});
    run.own_manifest().settings = {{"instrument", value, "environment"}};
    const bool is_off = *value == '\0' || *value == '0';
    EXPECT_EQ(instrument_command(run).empty(), !is_off) << value;
    const auto d = diagnose(run);
    ASSERT_TRUE(d);
    ASSERT_FALSE(d->missing.empty());
    const bool names_it = d->missing[0].find("run --instrument") != std::string::npos;
    EXPECT_EQ(names_it, is_off) << d->missing[0];
  }
}

TEST(InstrumentHint, is_what_a_run_without_a_verdict_names) {
  PlantedRun run;
  run.command({"python3", "train.py"}).cpu(0.4, 0.45).thread("main", 0.4, 0);
  const Diagnosis d = run.steps(0).diagnose();
  EXPECT_EQ(d.verdict, "unknown");
  ASSERT_FALSE(d.missing.empty());
  EXPECT_TRUE(d.missing[0].ends_with(" or trainscope run --instrument -- python3 train.py"))
      << d.missing[0];
}

}  // namespace instrument_hint_test
}  // namespace trainscope
