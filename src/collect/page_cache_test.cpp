#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "collect/support/file_sample.h"
#include "collect/support/opened_source.h"

namespace trainscope {

namespace page_cache_collector {
extern const Collector entry;
}

namespace page_cache_test {

SourceContext with(std::vector<std::string> data) {
  SourceContext context;
  context.data = std::move(data);
  return context;
}

TEST(PageCache, tells_what_is_in_memory) {
  TestRoot root;
  root.write("/data/a", std::string(100'000, 'x'));
  root.write("/data/b/c", std::string(50'000, 'x'));
  OpenedSource source(page_cache_collector::entry, root.path(), with({"/data"}));
  if (source.opened().columns.empty()) GTEST_SKIP() << source.missing("system.page_cache.cached");
  source.sample();
  EXPECT_EQ(source.value("system.page_cache.size{path=/data}"), 150'000);
  EXPECT_EQ(source.value("system.page_cache.cached{path=/data}"), 150'000);  // just written
}

TEST(PageCache, is_missing_with_the_reason) {
  TestRoot root;
  root.write("/empty/x/y", "");
  root.remove("/empty/x/y");
  EXPECT_EQ(
      OpenedSource(page_cache_collector::entry, root.path()).missing("system.page_cache.cached"),
      "no dataset was given | trainscope run --data FOLDER -- COMMAND");
  const OpenedSource nothing(page_cache_collector::entry, root.path(), with({"/nowhere"}));
  EXPECT_EQ(nothing.missing("system.page_cache.cached"), "/nowhere does not exist");
}

TEST(FileSample, is_the_same_each_time_and_spread_over_folders) {
  TestRoot root;
  for (int i = 0; i < 300; ++i) {
    root.write("/d/" + std::to_string(i % 3) + "/" + std::to_string(i), "");
  }
  const auto files = sample_files(root.at("/d"), 60, 1000);
  ASSERT_EQ(files.size(), 60U);
  EXPECT_EQ(files, sample_files(root.at("/d"), 60, 1000));
  std::map<char, int> of_folder;
  for (const std::string& file : files) ++of_folder[file[root.at("/d/").size()]];
  for (const auto& [folder, count] : of_folder) EXPECT_GT(count, 6) << folder;
  EXPECT_EQ(of_folder.size(), 3U);
  EXPECT_EQ(sample_files(root.at("/d"), 1000, 1000).size(), 300U);
  EXPECT_EQ(sample_files(root.at("/d/0/0"), 5, 10).size(), 1U);
  EXPECT_TRUE(sample_files(root.at("/none"), 5, 10).empty());
}

}  // namespace page_cache_test

}  // namespace trainscope
