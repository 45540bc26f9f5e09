#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <set>

#include "base/clock.h"
#include "collect/support/devices/perf_events.h"
#include "collect/support/opened_source.h"

namespace trainscope {

namespace perf_collector {
extern const Collector entry;
}

namespace perf_test {

void burn(int64_t ns) {
  const int64_t until = thread_cpu_ns() + ns;
  while (thread_cpu_ns() < until) {
  }
}

// The value of a metric in whichever mode this machine allows.
std::optional<double> value(const OpenedSource& source, const std::string& metric) {
  const auto all = source.value(metric + "{mode=all}");
  return all ? all : source.value(metric + "{mode=user}");
}

TEST(Perf, every_metric_is_there_or_has_a_reason) {
  OpenedSource source(perf_collector::entry, "");
  std::set<std::string_view> there;
  for (const Column& column : source.opened().columns) there.insert(column.metric);
  for (const MetricSpec& spec : perf_collector::entry.metrics) {
    if (there.contains(spec.name)) continue;
    EXPECT_NE(source.missing(std::string(spec.name)), "") << spec.name;
  }
}

TEST(Perf, counts_the_time_of_a_child_that_has_ended) {
  OpenedSource source(perf_collector::entry, "");
  if (!source.missing("perf.task_clock").empty()) {
    GTEST_SKIP() << source.missing("perf.task_clock");
  }
  source.sample();
  const auto before = value(source, "perf.task_clock");
  const pid_t child = ::fork();
  if (child == 0) {
    burn(50'000'000);
    ::_exit(0);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  source.sample();
  const auto after = value(source, "perf.task_clock");
  ASSERT_TRUE(before && after);
  EXPECT_GE(*after - *before, 0.049);
  EXPECT_LT(*after - *before, 0.5);
}

TEST(Perf, instructions_are_counted_where_the_processor_does) {
  OpenedSource source(perf_collector::entry, "");
  if (!source.missing("perf.cycles").empty()) GTEST_SKIP() << source.missing("perf.cycles");
  source.sample();
  burn(20'000'000);
  source.sample();
  EXPECT_GT(*value(source, "perf.cycles"), 1e6);
  EXPECT_GT(*value(source, "perf.instructions"), 1e6);
}

TEST(Perf, a_job_that_is_not_there_is_a_reason) {
  JobLink job;
  SourceContext context;
  context.job = &job;
  OpenedSource source(perf_collector::entry, "", context);
  EXPECT_EQ(source.missing("perf.cycles"), "the job was not running when counting began");
}

TEST(Perf, refusals_are_explained) {
  const TestRoot root;
  root.write("/proc/sys/kernel/perf_event_paranoid", "4\n");
  const PerfRefusal refused = explain_perf_error(EACCES, true, root.path());
  EXPECT_EQ(refused.reason, "no permission: kernel.perf_event_paranoid is 4");
  EXPECT_EQ(refused.remedy, "sudo sysctl kernel.perf_event_paranoid=2");
  root.write("/proc/sys/kernel/perf_event_paranoid", "1\n");
  EXPECT_NE(explain_perf_error(EPERM, true, root.path()).reason.find("container"),
            std::string::npos);
  root.write("/proc/cpuinfo", "flags : fpu hypervisor\n");
  EXPECT_EQ(explain_perf_error(ENOENT, true, root.path()).reason,
            "this virtual machine shows no counters of the processor");
  EXPECT_EQ(explain_perf_error(ENOENT, false, root.path()).reason, "not counted by this kernel");
}

}  // namespace perf_test
}  // namespace trainscope
