#include "record/host/frameworks.h"

#include <gtest/gtest.h>

#include "testing/test_root.h"

namespace trainscope {
namespace frameworks_test {

TEST(Frameworks, are_known_by_the_libraries_that_a_process_maps) {
  const TestRoot root;
  const std::string folder = "7f00-7f01 r-xp 00000000 08:01 42 /usr/lib/python3/site-packages/";
  root.write("/proc/1/maps", "5500-5501 r-xp 00000000 08:01 41 /usr/bin/bash\n");
  root.write("/proc/2/maps", folder + "torch/lib/libtorch_python.so\n");
  root.write("/proc/5/maps", folder + "torch/lib/libtorch_cpu.so\n");
  root.write("/proc/3/maps", folder + "jaxlib/libjax_common.so\n" + folder +
                                 "tensorflow/libtensorflow_framework.so.2\n");
  EXPECT_EQ(loaded_frameworks(root.path(), {1}), "");
  EXPECT_EQ(loaded_frameworks(root.path(), {1, 2}), "torch");
  EXPECT_EQ(loaded_frameworks(root.path(), {3}), "jax, tensorflow");
  EXPECT_EQ(loaded_frameworks(root.path(), {2, 4}), "torch") << "4 cannot be read";
  EXPECT_EQ(loaded_frameworks(root.path(), {5}), "") << "a C++ program";
}

}  // namespace frameworks_test
}  // namespace trainscope
