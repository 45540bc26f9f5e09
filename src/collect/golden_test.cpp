// The series that every collector finds on the machines of test/data/roots, compared with
// test/golden/collectors-<machine>.txt. TRAINSCOPE_REGENERATE=1 writes those files again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "collect/support/opened_source.h"

namespace trainscope {

namespace golden_test {

// More series of one metric than this are shown by the first and last few.
constexpr size_t kManySeries = 100;
constexpr size_t kShownOfMany = 12;

// Those that read the machine and not one job of it. GPUs are another process' (gpu/gpu_test.cpp).
std::vector<const Collector*> machine_collectors() {
  std::vector<const Collector*> found;
  for (const Collector* collector : collectors()) {
    if (collector->name == "gpu") continue;
    if (collector->scope == Scope::machine || collector->name.starts_with("cgroup")) {
      found.push_back(collector);
    }
  }
  return found;
}

SourceContext user_surroundings() {
  SourceContext context;
  context.run_folder = "/home/ann/my disk/runs/a1";
  context.working_directory = "/data/train";
  return context;
}

void list_series(const Collector& collector, const OpenedSource& source,
                 std::vector<std::string>& lines) {
  std::map<std::string_view, size_t> count;
  std::map<std::string_view, size_t> at;
  for (const Column& column : source.opened().columns) ++count[column.metric];
  for (size_t i = 0; i < source.opened().columns.size(); ++i) {
    const Column& column = source.opened().columns[i];
    const MetricSpec* spec = spec_of(collector, column);
    ASSERT_NE(spec, nullptr) << column.metric;
    const size_t index = at[column.metric]++;
    const size_t all = count[column.metric];
    if (all > kManySeries && index >= kShownOfMany && index < all - kShownOfMany) {
      if (index == kShownOfMany) {
        lines.push_back(fmt::format("... {} more of {}", all - 2 * kShownOfMany, column.metric));
      }
      continue;
    }
    const auto value = source.value(source.name(i));
    lines.push_back(fmt::format("{} {} {} = {}", source.name(i), spec->unit, kind_name(spec->kind),
                                value ? fmt::format("{}", *value) : "absent"));
  }
}

std::vector<std::string> listing(const std::string& machine) {
  std::vector<std::string> lines;
  for (const Collector* collector : machine_collectors()) {
    OpenedSource source(*collector, machine_root(machine), user_surroundings());
    EXPECT_EQ(source.sample(), Sampled::ok) << collector->name;
    lines.push_back(fmt::format("# {}", collector->name));
    list_series(*collector, source, lines);
    for (const Missing& missing : source.opened().missing) {
      const std::string remedy = missing.remedy.empty() ? "" : " | " + missing.remedy;
      lines.push_back(fmt::format("missing {}: {}{}", missing.metric, missing.reason, remedy));
    }
  }
  return lines;
}

std::string golden_path(const std::string& machine) {
  return std::string(TRAINSCOPE_TEST_DATA) + "/../golden/collectors-" + machine + ".txt";
}

// Lines of one text that the other lacks: enough to see the difference.
std::string difference(const std::vector<std::string>& wanted,
                       const std::vector<std::string>& got) {
  const std::set<std::string> wanted_lines(wanted.begin(), wanted.end());
  const std::set<std::string> got_lines(got.begin(), got.end());
  std::string text;
  for (const std::string& line : wanted) {
    if (!got_lines.contains(line)) text += "- " + line + "\n";
  }
  for (const std::string& line : got) {
    if (!wanted_lines.contains(line)) text += "+ " + line + "\n";
  }
  return text.empty() ? "the same lines in another order\n" : text;
}

std::vector<std::string> machines() {
  const auto names = list_folder(TRAINSCOPE_TEST_MACHINES);
  return names ? *names : std::vector<std::string>();
}

class Machine : public testing::TestWithParam<std::string> {};

TEST_P(Machine, gives_the_golden_listing) {
  const std::vector<std::string> got = listing(GetParam());
  std::string text;
  for (const std::string& line : got) text += line + "\n";
  const std::string path = golden_path(GetParam());
  if (std::getenv("TRAINSCOPE_REGENERATE") != nullptr) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return;
  }
  const auto golden = read_file(path);
  std::vector<std::string> wanted;
  if (golden) {
    for (const std::string_view line : split(trim(*golden), '\n')) wanted.emplace_back(line);
  }
  EXPECT_TRUE(wanted == got) << difference(wanted, got)
                             << "if this is right, run the test with TRAINSCOPE_REGENERATE=1";
}

// Every metric is either there or missing with a reason; series are unique and labelled as
// declared.
TEST_P(Machine, accounts_for_every_metric) {
  std::set<std::string> seen;
  for (const Collector* collector : machine_collectors()) {
    OpenedSource source(*collector, machine_root(GetParam()), user_surroundings());
    std::set<std::string_view> there;
    for (size_t i = 0; i < source.opened().columns.size(); ++i) {
      const Column& column = source.opened().columns[i];
      there.insert(column.metric);
      EXPECT_TRUE(seen.insert(source.name(i)).second) << source.name(i) << " is there twice";
      std::string names;
      for (const auto& [name, value] : column.labels) {
        names += (names.empty() ? "" : ", ") + name;
        EXPECT_FALSE(value.empty()) << source.name(i);
      }
      EXPECT_EQ(names, spec_of(*collector, column)->labels) << source.name(i);
      EXPECT_TRUE(std::is_sorted(column.labels.begin(), column.labels.end())) << source.name(i);
    }
    for (const MetricSpec& spec : collector->metrics) {
      const bool is_from_rapl = collector->name == "sensors" && spec.name == "hw.energy";
      if (there.contains(spec.name) || is_from_rapl) continue;
      EXPECT_NE(source.missing(std::string(spec.name)), "") << spec.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Collectors, Machine, testing::ValuesIn(machines()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace golden_test

}  // namespace trainscope
