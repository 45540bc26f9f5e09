#include "store/home/host_limits.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/fd.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace host_limits_test {

MachineLimits limits_of(const std::string& host) {
  MachineLimits limits;
  limits.host = host;
  limits.limits = {{"memory.bandwidth", 2e9, "By/s", "triad", "2026-01-02T03:04:05.000Z", "", ""}};
  return limits;
}

TEST(HostLimits, each_host_has_its_own) {
  const TemporaryFolder folder;
  const std::string home = folder.path() + "/new/home";
  const auto none = read_host_limits(home, "a");
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_FALSE(exists(home)) << "reading creates nothing";
  ASSERT_TRUE(write_host_limits(home, limits_of("a")));
  const auto found = read_host_limits(home, "a");
  ASSERT_TRUE(found);
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->limits.at(0).value, 2e9);
  EXPECT_FALSE(*read_host_limits(home, "b"));
}

TEST(HostLimits, damage_is_an_error_that_names_the_file) {
  const TemporaryFolder home;
  ASSERT_TRUE(write_host_limits(home.path(), limits_of("a")));
  const std::string path = host_limits_path(home.path(), "a");
  EXPECT_EQ(path, home.path() + "/limits/a.json");
  std::ofstream(path) << "{\"schema\": \"trainsc";
  const auto found = read_host_limits(home.path(), "a");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find(path), std::string::npos) << found.error().message();
}

TEST(HostLimits, no_name_leaves_the_folder) {
  EXPECT_EQ(host_limits_path("/h", "../../etc/x"), "/h/limits/_._.._etc_x.json");
  EXPECT_EQ(host_limits_path("/h", ""), "/h/limits/unnamed.json");
}

}  // namespace host_limits_test
}  // namespace trainscope
