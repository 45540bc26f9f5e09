// Requirements for every collector, whatever its files contain.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "collect/support/test_root.h"

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

namespace {

TEST(EveryCollector, SamplesEveryTickWithoutAllocating) {
  for (const char* machine : {"laptop", "server", "container-v2", "epyc-256"}) {
    for (const Collector* collector : collectors()) {
      if (collector->pace != Pace::tick || collector->scope != Scope::machine) continue;
      OpenedSource source(*collector, machine_root(machine));
      const int64_t before = allocations;
      const Sampled sampled = source.sample(250);  // with the looking for new devices
      EXPECT_EQ(allocations - before, 0) << collector->name << " on " << machine;
      EXPECT_EQ(sampled, Sampled::ok) << collector->name << " on " << machine;
    }
  }
}

void open_and_sample_all(const std::string& root) {
  for (const Collector* collector : collectors()) {
    if (collector->scope != Scope::machine && collector->name != "cgroup") continue;
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
TEST(EveryCollector, StandsFilesThatAreTornOrGone) {
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

// Files that change under a source that has them open.
TEST(EveryCollector, StandsFilesThatChangeWhileOpen) {
  TestRoot root("laptop");
  std::vector<OpenedSource> sources;
  for (const Collector* collector : collectors()) {
    if (collector->scope == Scope::machine) sources.emplace_back(*collector, root.path());
  }
  for (const std::string& file : files_of(root)) {
    const std::string text = root.text(file);
    for (const size_t size : {text.size() / 3, size_t{1}, size_t{0}}) {
      root.write(file, text.substr(0, size));
      for (OpenedSource& source : sources) {
        if (source.sample() == Sampled::layout_changed) source.open();
      }
    }
    root.write(file, text);
  }
}

}  // namespace

}  // namespace trainscope
