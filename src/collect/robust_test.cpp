// Requirements for every collector, whatever its files contain.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <new>
#include <optional>
#include <set>

#include "collect/support/opened_source.h"

namespace {

// Of this thread, in this whole test program.
thread_local int64_t allocations = 0;

}  // namespace

// All that pair with the plain delete, or the address sanitizer sees its own new with our free. Not
// inline, or g++ does.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

namespace trainscope {

namespace robust_test {

// Three processes, parent and children, that have been there for a while.
void add_job(const TestRoot& root) {
  root.write("/proc/loadavg", "0.00 0.00 0.00 1/100 102\n");
  root.write("/proc/self/io", "rchar: 0\n");
  for (const int pid : {100, 101, 102}) {
    const std::string folder = fmt::format("/proc/{}/", pid);
    root.write(folder + "stat", fmt::format("{} (job) S {} 100 100 0 -1 0 7 0 0 0 5 6 0 0 20 0 1 0 "
                                            "1000 1000000 500 1\n",
                                            pid, pid == 100 ? 1 : 100));
    root.write(folder + "io",
               "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
               "write_bytes: 6\n");
  }
}

TEST(EveryCollector, samples_every_tick_without_allocating) {
  JobLink job;
  job.first_pid = 100;
  SourceContext context;
  context.job = &job;
  for (const char* machine : {"laptop", "server", "container-v2", "epyc-256"}) {
    TestRoot root(machine);
    add_job(root);
    for (const Collector* collector : collectors()) {
      if (collector->pace != Pace::tick) continue;
      OpenedSource source(*collector, root.path(), context);
      source.sample();  // a job's source opens the files of the processes that it finds
      const int64_t before = allocations;
      const Sampled sampled = source.sample(250);  // with the looking for new devices
      EXPECT_EQ(allocations - before, 0) << collector->name << " on " << machine;
      EXPECT_EQ(sampled, Sampled::ok) << collector->name << " on " << machine;
      if (collector->name == "job") {
        EXPECT_EQ(source.value("job.process.count"), 3);
      }
    }
  }
}

void open_and_sample_all(const std::string& root) {
  for (const Collector* collector : collectors()) {
    if (collector->scope != Scope::machine && !collector->name.starts_with("cgroup")) continue;
    OpenedSource source(*collector, root);
    source.sample();
    for (const Missing& missing : source.opened().missing) {
      EXPECT_FALSE(missing.reason.empty()) << collector->name << " " << missing.metric;
    }
  }
}

std::vector<std::string> files_of(const TestRoot& root) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root.path())) {
    if (entry.is_regular_file()) files.push_back(entry.path().string().substr(root.path().size()));
  }
  return files;
}

// Each file in turn empty, cut in the middle, full of garbage, and removed.
TEST(EveryCollector, stands_files_that_are_torn_or_gone) {
  for (const char* machine :
       {"laptop", "container-v1", "container-v2", "jetson-tx2", "jetson-orin"}) {
    TestRoot root(machine);
    for (const std::string& file : files_of(root)) {
      const std::string text = root.text(file);
      const std::string noise = "-1 \\0 99999999999999999999999 ::// - \xff\n\n" + text;
      for (const std::string& bad : {std::string(), text.substr(0, text.size() / 2), noise}) {
        root.write(file, bad);
        open_and_sample_all(root.path());
      }
      root.remove(file);
      open_and_sample_all(root.path());
      root.write(file, text);
    }
  }
}

// A source and what it shows while all of its files are whole.
struct Watched {
  using Readings = std::map<std::string, std::optional<double>>;

  Watched(const Collector& its_collector, const std::string& root)
      : collector(&its_collector), source(its_collector, root) {
    source.sample();
    whole = readings();
  }
  Readings readings() const {
    Readings found;
    for (size_t i = 0; i < source.values().size(); ++i) {
      const std::string name = source.name(i);
      found[name] = source.value(name);
    }
    return found;
  }
  void sample() {
    if (source.sample() == Sampled::ok) return;
    source.open();
    source.sample();
  }
  // Gauges as they were. A counter may look as if it had wrapped, so it may be higher.
  void expect_nothing_else(const Readings& now, const std::string& file) const {
    for (const auto& [name, value] : now) {
      const auto before = whole.find(name);
      if (!value || before == whole.end() || !before->second) continue;
      const MetricSpec* spec = find_metric(*collector, name.substr(0, name.find('{')));
      ASSERT_NE(spec, nullptr) << name;
      const bool higher = spec->kind == Kind::counter && *value >= *before->second;
      EXPECT_TRUE(higher || *value == *before->second)
          << name << " was " << *before->second << ", is " << *value << " with a changed " << file;
    }
  }

  const Collector* collector;
  OpenedSource source;
  Readings whole;
};

std::set<std::string> present(const Watched::Readings& readings) {
  std::set<std::string> names;
  for (const auto& [name, value] : readings) {
    if (value) names.insert(name);
  }
  return names;
}

// An empty file takes values away and changes none; when it is whole again, so are they.
TEST(EveryCollector, stands_files_that_change_while_open) {
  TestRoot root("laptop");
  std::vector<Watched> watched;
  for (const Collector* collector : collectors()) {
    if (collector->scope == Scope::machine) watched.emplace_back(*collector, root.path());
  }
  for (const std::string& file : files_of(root)) {
    const std::string text = root.text(file);
    for (const size_t size : {text.size() / 3, size_t{1}, size_t{0}}) {
      root.write(file, text.substr(0, size));
      for (Watched& one : watched) one.sample();
    }
    for (const Watched& one : watched) one.expect_nothing_else(one.readings(), file);
    root.write(file, text);
    for (Watched& one : watched) {
      one.sample();
      // One that was opened while the file was cut does not look for more until it is opened again.
      if (present(one.readings()) != present(one.whole)) {
        one.source.open();
        one.source.sample();
      }
      EXPECT_EQ(present(one.readings()), present(one.whole)) << file;
      one.expect_nothing_else(one.readings(), file);
    }
  }
}

}  // namespace robust_test

}  // namespace trainscope
