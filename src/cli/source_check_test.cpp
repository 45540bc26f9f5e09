#include "cli/source_check.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace trainscope {
namespace source_check_test {

constexpr MetricSpec kMetrics[] = {{"a", "1", Kind::gauge, "", "first"},
                                   {"b", "1", Kind::gauge, "", "second"}};

// A source that hangs does so for as long as this process lives, as a driver would.
std::atomic<bool> hung{false};

void hang() {
  hung = true;
  hung.notify_all();
  static std::atomic<bool> ended{false};
  ended.wait(false);
}

// Behaviour of the next source that is created.
struct Script {
  bool a = true, b = true, hangs = false, throws = false;
  int layout_changes = 0;
};
Script script;

class ScriptedSource : public Source {
 public:
  Opened open(const SourceContext& /*context*/) override {
    const Script mine = script;
    if (mine.hangs) hang();
    if (mine.throws) throw std::runtime_error("no memory for it");
    Opened opened;
    opened.columns.push_back({"a", {}, {}});
    if (!mine.b) opened.missing.push_back({"b", "there is no b", "modprobe b"});
    return opened;
  }
  Sampled sample(std::span<int64_t> values) override {
    if (script.layout_changes-- > 0) return Sampled::layout_changed;
    values[0] = script.a ? 1 : kAbsent;
    return Sampled::ok;
  }
};

Collector collector(std::span<const MetricSpec> metrics) {
  Collector made;
  made.name = "scripted";
  made.metrics = metrics;
  made.make = [] { return std::unique_ptr<Source>(std::make_unique<ScriptedSource>()); };
  return made;
}

TEST(SourceCheck, ok_when_all_give_values) {
  script = {};
  const CheckedSource found = check_source(collector(std::span(kMetrics).first(1)), {});
  EXPECT_EQ(found.status, "ok");
  EXPECT_EQ(found.metrics, std::vector<std::string>{"a"});
  EXPECT_EQ(found.reason, "");
}

TEST(SourceCheck, partial_with_reason_and_remedy) {
  script = {.b = false};
  const CheckedSource found = check_source(collector(kMetrics), {});
  EXPECT_EQ(found.status, "partial");
  EXPECT_EQ(found.reason, "there is no b");
  EXPECT_EQ(found.remedy, "modprobe b");
}

TEST(SourceCheck, a_column_without_values_is_missing) {
  script = {.a = false, .b = false};
  const CheckedSource found = check_source(collector(kMetrics), {});
  EXPECT_EQ(found.status, "unavailable");
  EXPECT_EQ(found.missing.size(), 2U);
}

TEST(SourceCheck, layout_changes_are_followed_but_not_for_ever) {
  script = {.layout_changes = 2};
  EXPECT_EQ(check_source(collector(std::span(kMetrics).first(1)), {}).status, "ok");
  script = {.layout_changes = 1'000'000};
  EXPECT_EQ(check_source(collector(std::span(kMetrics).first(1)), {}).status, "unavailable");
}

TEST(SourceCheck, an_exception_costs_its_source_alone) {
  script = {.throws = true};
  static const Collector throwing = collector(kMetrics);
  const CheckedSource found = check_source_within(throwing, {}, 60'000'000'000);
  EXPECT_EQ(found.status, "unavailable");
  EXPECT_EQ(found.reason, "no memory for it");
  EXPECT_EQ(found.missing.size(), 2U);
}

TEST(SourceCheck, a_hanging_source_costs_its_deadline) {
  script = {.hangs = true};
  static const Collector hanging = collector(kMetrics);
  const CheckedSource found = check_source_within(hanging, {}, 20'000'000);
  EXPECT_EQ(found.status, "unavailable");
  EXPECT_EQ(found.reason, "no reply within 20 ms");
  hung.wait(false);  // it has read `script`
}

}  // namespace source_check_test
}  // namespace trainscope
