#include <gtest/gtest.h>

#include "store/read/run_id.h"
#include "store/store.h"

namespace trainscope {
namespace run_name_test {

TEST(RunName, refuses_what_means_a_run_in_another_way) {
  for (const char* name :
       {"latest", "latest~2", "resnet~1", "a/b", "./a", ".", "..", "res*", "res?", "[ab]", "/"}) {
    EXPECT_FALSE(check_run_name(name)) << name;
  }
  EXPECT_FALSE(check_run_name(make_run_id(1'763'199'000'000'000'000, 5)));
}

TEST(RunName, takes_everything_else) {
  for (const char* name : {"", "resnet50", "Latest", "latest-1", "a~b", "~", "x~", "lr=0.1,b=32",
                           "ein Lauf", "v1.2", "日本"}) {
    EXPECT_TRUE(check_run_name(name)) << name;
  }
}

}  // namespace run_name_test
}  // namespace trainscope
