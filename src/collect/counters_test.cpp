#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <memory>

#include "collect/support/counters/counter_files.h"
#include "collect/support/opened_source.h"

namespace trainscope {

namespace counters_collector {
extern const Collector entry;
}
namespace counters_slow_collector {
extern const Collector entry;
}

namespace counters_test {

// The clock stands still: on a busy machine a reading may take so long that its file counts as
// slow.
SourceContext with(std::vector<std::string> counters) {
  static const JobLink job;
  SourceContext context;
  context.now_ns = [] { return int64_t{0}; };
  context.counters = std::move(counters);
  context.working_directory = "/training";
  context.job = &job;
  return context;
}

// Samples, and opens again if the source requests it, as the recorder does.
void follow(OpenedSource& source) {
  if (source.sample() == Sampled::ok) return;
  source.open();
  source.sample();
}

// New files are searched for once per second of this clock.
class Clock {
 public:
  void set_in(SourceContext& context) const {
    context.now_ns = [this] { return now_ns_; };
  }
  void follow_for_a_second(OpenedSource& source) {
    for (int i = 0; i < 3; ++i, now_ns_ += kNsPerSecond / 2) follow(source);
    follow(source);
  }

 private:
  int64_t now_ns_ = 0;
};

TEST(Counters, reads_several_of_one_file) {
  TestRoot root;
  root.write("/s", "a 1 2\nb 3 4\n");
  OpenedSource source(
      counters_collector::entry, root.path(),
      with({"x:/s+c=1", "y:uint@/s+key=b;c=2;unit=By;kind=counter", "z:/s+r=1;c=1"}));
  ASSERT_EQ(source.opened().columns.size(), 3U);
  EXPECT_EQ(source.opened().columns[1].spec->unit, "By");
  EXPECT_EQ(source.opened().columns[1].spec->kind, Kind::counter);
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("counter.x"), 1);
  EXPECT_EQ(source.value("counter.y"), 4);
  EXPECT_EQ(source.value("counter.z"), 3);
  root.write("/s", "a 10 2\nb 30 40\n");
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("counter.x"), 10);
  EXPECT_EQ(source.value("counter.y"), 40);
}

TEST(Counters, reads_relative_paths_from_the_working_directory) {
  TestRoot root;
  root.write("/training/s", "7\n");
  OpenedSource source(counters_collector::entry, root.path(), with({"x:s+"}));
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 7);
}

TEST(Counters, counts_from_the_first_value_that_was_read) {
  TestRoot root;
  root.write("/s", "100\n");
  OpenedSource source(counters_collector::entry, root.path(), with({"x:/s+d", "y:/s+"}));
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 0);
  root.write("/s", "130\n");
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 30);
  EXPECT_EQ(source.value("counter.y"), 130);
  source.open();  // another counter appeared: the first value stays the first
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 30);
}

TEST(Counters, keeps_real_numbers_as_doubles) {
  TestRoot root;
  root.write("/s", "0.1 -0.0\n");
  OpenedSource source(counters_collector::entry, root.path(),
                      with({"x:double@/s+", "y:double@/s+c=1"}));
  source.sample();
  ASSERT_TRUE(source.opened().columns[0].is_double);
  EXPECT_EQ(std::bit_cast<double>(source.values()[0]), 0.1);
  EXPECT_EQ(source.values()[1], 0);
}

// In Score-P a row that was not found blocked every other counter of the file.
TEST(Counters, gives_a_reason_of_its_own_to_each_that_has_no_value) {
  TestRoot root;
  root.write("/s", "a 1\nb x\n");
  OpenedSource source(
      counters_collector::entry, root.path(),
      with({"lost:/s+key=c", "far:/s+r=9;c=1", "wide:/s+c=5", "word:/s+r=1;c=1", "none:/t+",
            "late:/s+match=^z", "x:/s+c=1", "bytes:int64_bin@/s+b=100", "folder:/+"}));
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 1);
  EXPECT_EQ(source.missing("counter.lost"), "/s: no row begins with 'c'");
  EXPECT_EQ(source.missing("counter.far"), "/s: row 9 does not exist (the first is 0)");
  EXPECT_EQ(source.missing("counter.wide"), "/s: the row has no column 5 (the first is 0)");
  EXPECT_EQ(source.missing("counter.word"), "/s: the value is not of type int");
  EXPECT_EQ(source.missing("counter.none"), "/t does not exist");
  EXPECT_EQ(source.missing("counter.late"), "/s: no row matches ^z");
  EXPECT_EQ(source.missing("counter.bytes"), "/s: the file ends before byte 100");
  EXPECT_EQ(source.missing("counter.folder"), "/ is not a regular file");
}

TEST(Counters, takes_up_a_counter_that_appears) {
  TestRoot root;
  root.write("/s", "a 1\n");
  Clock clock;
  SourceContext context = with({"x:/s+key=b", "y:/t+"});
  clock.set_in(context);
  OpenedSource source(counters_collector::entry, root.path(), context);
  EXPECT_TRUE(source.opened().columns.empty());
  EXPECT_TRUE(source.opened().waits);
  root.write("/s", "a 1\nb 2\n");
  EXPECT_EQ(source.sample(), Sampled::layout_changed);
  source.open();
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 2);
  root.write("/t", "3\n");
  follow(source);  // too early to search
  EXPECT_FALSE(source.has("counter.y"));
  clock.follow_for_a_second(source);
  EXPECT_EQ(source.value("counter.y"), 3);
}

TEST(Counters, follows_a_file_that_is_replaced_by_rename) {
  TestRoot root;
  root.write("/s", "1\n");
  OpenedSource source(counters_collector::entry, root.path(), with({"x:/s+"}));
  for (int i = 2; i < 20; ++i) {
    root.write("/s.new", std::to_string(i) + "\n");
    std::filesystem::rename(root.at("/s.new"), root.at("/s"));
    ASSERT_EQ(source.sample(), Sampled::ok);
    EXPECT_EQ(source.value("counter.x"), i);
  }
}

TEST(Counters, is_absent_while_a_file_is_gone_or_torn) {
  TestRoot root;
  root.write("/s", "read 100200\n");
  OpenedSource source(counters_collector::entry, root.path(), with({"x:/s+c=1"}));
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 100200);
  for (const char* torn : {"", "re", "read ", "read 100"}) {
    root.write("/s", torn);
    EXPECT_EQ(source.sample(), Sampled::ok);
    EXPECT_EQ(source.value("counter.x"), std::nullopt) << torn;
  }
  root.remove("/s");
  source.sample();
  EXPECT_EQ(source.value("counter.x"), std::nullopt);
  root.write("/s", "read 100300\n");
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 100300);
}

TEST(Counters, reads_a_file_that_never_has_a_newline) {
  TestRoot root;
  root.write("/s", "5");
  OpenedSource source(counters_collector::entry, root.path(), with({"x:/s+"}));
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 5);
}

// Score-P lost values at offset 0 and at the edges of its read buffer.
TEST(Counters, reads_binary_numbers_wherever_they_are) {
  TestRoot root;
  std::string bytes(size_t{1} << 21, '\0');
  std::vector<std::string> specs;
  for (const size_t at : {size_t{0}, size_t{4092}, size_t{65533}, (size_t{1} << 20) - 3,
                          size_t{1} << 20, bytes.size() - 8}) {
    bytes[at] = static_cast<char>(1 + specs.size());
    specs.push_back("c" + std::to_string(specs.size()) + ":uint64_bin@/b+b=" + std::to_string(at));
  }
  root.write("/b", bytes);
  OpenedSource source(counters_collector::entry, root.path(), with(specs));
  source.sample();
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto value = source.value("counter.c" + std::to_string(i));
    ASSERT_TRUE(value) << specs[i];
    EXPECT_EQ(static_cast<uint64_t>(*value) & 0xFF, i + 1) << specs[i];
  }
}

TEST(Counters, reads_rows_beyond_the_first_piece_of_a_file) {
  TestRoot root;
  std::string text;
  for (int i = 0; i < 40'000; ++i)
    text += "row" + std::to_string(i) + " " + std::to_string(i) + "\n";
  root.write("/s", text);
  OpenedSource source(counters_collector::entry, root.path(),
                      with({"x:/s+key=row39999", "y:/s+r=20000;c=1"}));
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 39999);
  EXPECT_EQ(source.value("counter.y"), 20000);
}

TEST(Counters, labels_the_files_of_a_pattern) {
  TestRoot root;
  root.write("/fs/ost0/stats", "read 1\n");
  root.write("/fs/ost1/stats", "read 2\n");
  root.write("/fs/other", "");
  Clock clock;
  SourceContext context = with({"x:/fs/ost*/stats+c=1"});
  clock.set_in(context);
  OpenedSource source(counters_collector::entry, root.path(), context);
  source.sample();
  EXPECT_EQ(source.value("counter.x{file=/fs/ost0/stats}"), 1);
  EXPECT_EQ(source.value("counter.x{file=/fs/ost1/stats}"), 2);
  root.write("/fs/ost2/stats", "read 3\n");
  root.remove("/fs/ost0");
  clock.follow_for_a_second(source);
  EXPECT_EQ(source.value("counter.x{file=/fs/ost2/stats}"), 3);
  EXPECT_FALSE(source.has("counter.x{file=/fs/ost0/stats}"));
  OpenedSource nothing(counters_collector::entry, root.path(), with({"x:/fs/mdt*/stats+c=1"}));
  EXPECT_EQ(nothing.missing("counter.x"), "no file matches /fs/mdt*/stats");
}

TEST(Counters, takes_a_path_with_brackets_as_it_is_when_it_exists) {
  TestRoot root;
  root.write("/a[1]", "4\n");
  OpenedSource source(counters_collector::entry, root.path(), with({"x:/a[1]+"}));
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 4);
}

TEST(Counters, does_not_wait_for_a_fifo) {
  TestRoot root;
  ASSERT_EQ(::mkfifo(root.at("/fifo").c_str(), 0600), 0);
  OpenedSource source(counters_collector::entry, root.path(), with({"x:/fifo+"}));
  EXPECT_EQ(source.missing("counter.x"), "/fifo is not a regular file");
}

// Files that may hang are read by the source with its own thread.
TEST(Counters, leaves_network_mounts_to_the_other_source) {
  TestRoot root;
  root.write("/proc/self/mountinfo",
             "27 1 8:2 / / rw - ext4 /dev/sda2 rw\n48 27 0:47 / /nfs rw - nfs4 filer:/x rw\n");
  root.write("/nfs/s", "5\n");
  root.write("/nfs/t", "6\n");
  root.write("/s", "7\n");
  ASSERT_EQ(::symlink("/nfs/s", root.at("/link").c_str()), 0);
  const std::vector<std::string> specs = {"far:/nfs/s+", "near:/s+", "all:/nfs/[st]+",
                                          "mixed:/*s/s+"};
  OpenedSource local(counters_collector::entry, root.path(), with(specs));
  OpenedSource slow(counters_slow_collector::entry, root.path(), with(specs));
  local.sample();
  slow.sample();
  EXPECT_EQ(local.value("counter.near"), 7);
  EXPECT_FALSE(local.has("counter.far"));
  EXPECT_EQ(local.missing("counter.far"), "");
  EXPECT_EQ(slow.value("counter.far"), 5);
  EXPECT_EQ(slow.value("counter.all{file=/nfs/t}"), 6);
  EXPECT_EQ(slow.value("counter.mixed{file=/nfs/s}"), 5);
  EXPECT_FALSE(slow.has("counter.near"));
  EXPECT_EQ(slow.missing("counter.near"), "");
  root.write("/nfs/s", "8\n");
  slow.sample();
  EXPECT_EQ(slow.value("counter.far"), 8);
}

// A machine on which each look at the clock takes 6 ms; for a part of them the thread waits for a
// CPU.
struct SlowMachine {
  int64_t now_ns = 0, waited_ns = 0, waits_each_ns = 0;
};

SlowMachine slow_machine;

Collector on_slow_machine() {
  Collector collector = counters_collector::entry;
  collector.make = [] {
    return std::unique_ptr<Source>(std::make_unique<CounterFiles>(
        CounterFiles::MountKind::local_files, [] { return slow_machine.waited_ns; }));
  };
  return collector;
}

SourceContext of_slow_machine(std::vector<std::string> counters) {
  SourceContext context = with(std::move(counters));
  context.now_ns = [] {
    slow_machine.waited_ns += slow_machine.waits_each_ns;
    return slow_machine.now_ns += 6 * kNsPerMs;
  };
  return context;
}

TEST(Counters, a_file_that_is_slow_five_times_in_a_row_is_left_alone_for_a_while) {
  TestRoot root;
  root.write("/s", "7\n");
  slow_machine = {};
  const Collector collector = on_slow_machine();
  OpenedSource source(collector, root.path(), of_slow_machine({"x:/s+"}));
  for (int i = 0; i < 4; ++i) {
    source.sample();
    EXPECT_EQ(source.value("counter.x"), 7) << i;
  }
  source.sample();
  EXPECT_EQ(source.value("counter.x"), std::nullopt);
  slow_machine.now_ns += 20 * 6 * kNsPerMs;
  source.sample();
  EXPECT_EQ(source.value("counter.x"), 7);
}

TEST(Counters, a_thread_that_waits_for_a_cpu_makes_no_file_slow) {
  TestRoot root;
  root.write("/s", "7\n");
  slow_machine = {0, 0, 4 * kNsPerMs};
  const Collector collector = on_slow_machine();
  OpenedSource source(collector, root.path(), of_slow_machine({"x:/s+"}));
  for (int i = 0; i < 20; ++i) {
    source.sample();
    EXPECT_EQ(source.value("counter.x"), 7) << i;
  }
}

TEST(Counters, says_nothing_of_a_run_without_counters) {
  OpenedSource run(counters_collector::entry, "", with({}));
  EXPECT_TRUE(run.opened().missing.empty());
  OpenedSource doctor(counters_collector::entry, "");
  EXPECT_NE(doctor.missing("counter.NAME"), "");
}

}  // namespace counters_test

}  // namespace trainscope
