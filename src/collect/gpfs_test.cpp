#include <gtest/gtest.h>

#include "base/clock.h"
#include "collect/support/opened_source.h"

namespace trainscope {

namespace gpfs_collector {
extern const Collector entry;
}

namespace gpfs_test {

constexpr const char* kProgram = "/usr/lpp/mmfs/bin/mmpmon";

void install(const TestRoot& root, const std::string& script) {
  root.write(kProgram, "#!/bin/sh\n" + script);
  std::filesystem::permissions(root.at(kProgram), std::filesystem::perms::owner_all);
}

// A stand-in that replies as mmpmon -p does, once per query.
constexpr const char* kAnswers = R"(n=0
while read -r question; do
  n=$((n + 1000))
  for fs in scratch home; do
    echo "_fs_io_s_ _n_ 10.0.0.1 _nn_ node1 _rc_ 0 _t_ 1 _tu_ 2 _cl_ c _fs_ $fs _d_ 4 _br_ $n _bw_ 7 \
_oc_ 1 _cc_ 2 _rdc_ 3 _wc_ 4 _dir_ 5 _iu_ 6"
  done
done
)";

TEST(Gpfs, asks_for_every_file_system) {
  TestRoot root;
  install(root, kAnswers);
  OpenedSource source(gpfs_collector::entry, root.path());
  ASSERT_EQ(source.opened().columns.size(), 16U);
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("gpfs.read.bytes{fs=scratch}"), 2000);
  EXPECT_EQ(source.value("gpfs.operations{fs=home;operation=inode_update}"), 6);
  source.sample();
  EXPECT_EQ(source.value("gpfs.read.bytes{fs=home}"), 3000);
}

TEST(Gpfs, does_not_wait_for_one_that_hangs_or_ends) {
  for (const char* script : {"sleep 1000\n", "exit 1\n", "read -r q; printf torn; sleep 1000\n"}) {
    TestRoot root;
    install(root, script);
    const int64_t begin = monotonic_ns();
    OpenedSource source(gpfs_collector::entry, root.path());
    EXPECT_EQ(source.missing("gpfs.read.bytes"),
              "no reply from mmpmon: it needs root and a running GPFS | sudo trainscope run -- "
              "COMMAND");
    EXPECT_LT(monotonic_ns() - begin, 60 * kNsPerSecond);  // and not a thousand
  }
}

TEST(Gpfs, is_missing_where_there_is_no_program) {
  TestRoot root;
  OpenedSource source(gpfs_collector::entry, root.path());
  EXPECT_EQ(source.missing("gpfs.read.bytes"), "/usr/lpp/mmfs/bin/mmpmon does not exist");
}

}  // namespace gpfs_test

}  // namespace trainscope
