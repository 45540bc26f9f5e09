#include "cli/instrument_hint.h"

#include <gtest/gtest.h>

#include "testing/fake_run.h"

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

}  // namespace instrument_hint_test
}  // namespace trainscope
