#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "collect/support/opened_source.h"

namespace trainscope {

namespace tegrastats_collector {
extern const Collector entry;
}

namespace collect_tegrastats_test {

constexpr const char* kLine =
    "RAM 1/2MB CPU [10%@100] EMC_FREQ 3%@1600 GR3D_FREQ $load%@1122 APE 150 GPU@44.5C "
    "VDD_IN 4567/4321";

// A Jetson without a load in /sys whose tegrastats counts the load up.
std::unique_ptr<TestRoot> board(const std::string& script) {
  auto root = std::make_unique<TestRoot>("jetson-orin");
  root->remove("/sys/devices/platform/17000000.gpu");
  root->write("/usr/bin/tegrastats", "#!/bin/sh\necho $$ > " + root->at("/pid") + "\n" + script);
  std::filesystem::permissions(root->at("/usr/bin/tegrastats"), std::filesystem::perms::owner_all);
  return root;
}

std::string counting() {
  return std::string("load=1\nwhile :; do echo \"") + kLine +
         "\"; load=$((load + 1)); sleep 0.02; done\n";
}

// Samples until the series has a value, for half a minute at most.
std::optional<double> wait_for(OpenedSource& source, const std::string& series) {
  for (int i = 0; i < 3000; ++i) {
    source.sample();
    if (const auto value = source.value(series)) return value;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

TEST(TegrastatsSource, gives_what_sysfs_lacks) {
  const auto root = board(counting());
  OpenedSource source(tegrastats_collector::entry, root->path());
  ASSERT_TRUE(source.has("hw.gpu.utilization{gpu=0}")) << source.missing("hw.gpu.utilization");
  const auto first = wait_for(source, "hw.gpu.utilization{gpu=0}");
  const auto later = wait_for(source, "hw.gpu.utilization{gpu=0}");
  ASSERT_TRUE(first && later);
  EXPECT_GT(*later, *first);
  EXPECT_EQ(source.value("hw.gpu.clock{clock=sm;gpu=0}"), 1122e6);
  EXPECT_EQ(source.value("hw.gpu.temperature{gpu=0}"), 44.5);
  EXPECT_EQ(source.value("jetson.engine.clock{engine=APE}"), 150e6);
  // The rails are in hwmon; memory and processors belong to other sources.
  EXPECT_FALSE(source.has("hw.power{sensor=VDD_IN}"));
  EXPECT_FALSE(source.has("system.cpu.utilization{cpu=0}"));
  EXPECT_EQ(source.missing("jetson.engine.utilization"), "not reported by tegrastats");
}

TEST(TegrastatsSource, a_reading_is_not_repeated) {
  const auto root =
      board(std::string("load=7\necho \"") + kLine + "\"\necho \"" + kLine + "\"\nsleep 60\n");
  OpenedSource source(tegrastats_collector::entry, root->path());
  ASSERT_TRUE(source.has("hw.gpu.utilization{gpu=0}"));
  source.sample();  // the second line, when it came after the first was read
  source.sample();
  EXPECT_FALSE(source.value("hw.gpu.utilization{gpu=0}"));
}

TEST(TegrastatsSource, a_program_that_ends_is_restarted) {
  const auto root = board("");
  const std::string ran = root->at("/ran");
  root->write("/usr/bin/tegrastats", "#!/bin/sh\nload=7\n[ -e " + ran + " ] && load=50\n: > " +
                                         ran + "\necho \"" + kLine + "\"\n");
  std::vector<std::string> events;
  SourceContext context;
  context.event_sink = [&](const std::string&, const std::string& text) { events.push_back(text); };
  OpenedSource source(tegrastats_collector::entry, root->path(), context);
  ASSERT_TRUE(source.has("hw.gpu.utilization{gpu=0}"));
  EXPECT_EQ(wait_for(source, "hw.gpu.utilization{gpu=0}"), 0.5);
  EXPECT_EQ(events, std::vector<std::string>{"tegrastats has ended; it was restarted"});
}

TEST(TegrastatsSource, the_program_ends_with_the_source) {
  const auto root = board(counting());
  pid_t pid = 0;
  {
    OpenedSource source(tegrastats_collector::entry, root->path());
    ASSERT_TRUE(source.has("hw.gpu.utilization{gpu=0}"));
    pid = static_cast<pid_t>(*parse_integer(trim(root->text("/pid"))));
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(TegrastatsSource, a_torn_or_silent_program_is_a_reason) {
  const auto broken = board("echo nonsense\n");
  OpenedSource source(tegrastats_collector::entry, broken->path());
  EXPECT_EQ(source.missing("hw.gpu.utilization"),
            "tegrastats: the line has no field of tegrastats");
  const auto silent = board("exit 1\n");
  OpenedSource other(tegrastats_collector::entry, silent->path());
  EXPECT_EQ(other.missing("hw.gpu.utilization"), "tegrastats: it printed nothing");
}

TEST(TegrastatsSource, is_not_asked_where_sysfs_shows_the_load) {
  OpenedSource source(tegrastats_collector::entry, machine_root("jetson-orin"));
  EXPECT_TRUE(source.opened().columns.empty());
  EXPECT_EQ(source.missing("hw.gpu.utilization"),
            "/sys shows the GPU's load, so tegrastats is not used");
}

TEST(TegrastatsSource, is_missing_with_a_reason) {
  const auto root = board("");
  root->remove("/usr/bin/tegrastats");
  OpenedSource source(tegrastats_collector::entry, root->path());
  EXPECT_EQ(source.missing("hw.gpu.utilization"),
            "tegrastats is not installed | sudo apt install nvidia-l4t-tools");
  OpenedSource elsewhere(tegrastats_collector::entry, machine_root("vm"));
  EXPECT_EQ(elsewhere.missing("hw.gpu.utilization"), "this machine is not a Jetson");
}

}  // namespace collect_tegrastats_test
}  // namespace trainscope
