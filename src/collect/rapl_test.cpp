#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace rapl_collector {
extern const Collector entry;
}

namespace rapl_test {

const std::string kPackage = "/sys/class/powercap/intel-rapl:0";

TEST(Rapl, counts_on_when_the_counter_wraps) {
  TestRoot root("server");
  OpenedSource source(rapl_collector::entry, root.path());
  source.sample();
  EXPECT_EQ(source.value("hw.energy{sensor=package-0}"), 262143);
  root.write(kPackage + "/energy_uj", "671150\n");
  source.sample();
  EXPECT_EQ(source.value("hw.energy{sensor=package-0}"), 262144);
  root.write(kPackage + "/energy_uj", "");
  source.sample();
  EXPECT_EQ(source.value("hw.energy{sensor=package-0}"), std::nullopt);
  root.write(kPackage + "/energy_uj", "1671150\n");
  source.sample();
  EXPECT_EQ(source.value("hw.energy{sensor=package-0}"), 262145);
}

TEST(Rapl, names_parts_by_their_package) {
  OpenedSource source(rapl_collector::entry, machine_root("server"));
  EXPECT_TRUE(source.has("hw.energy{sensor=dram-1}"));
  OpenedSource laptop(rapl_collector::entry, machine_root("laptop"));
  EXPECT_EQ(laptop.opened().columns.size(), 4U);  // intel-rapl-mmio shows the package again
}

// Acts as a user without rights while it lives: root may read everything.
class AsNobody {
 public:
  AsNobody() : was_(::geteuid()) {
    if (was_ == 0) CHECK(::seteuid(65534) == 0);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (was_ == 0) CHECK(::seteuid(0) == 0);
  }

 private:
  uid_t was_;
};

TEST(Rapl, says_how_to_make_it_readable) {
  TestRoot root("server");
  ASSERT_EQ(::chmod(root.path().c_str(), 0755), 0);
  for (const char* zone : {"0", "0:0", "1", "1:0"}) {
    const std::string file = std::string("/sys/class/powercap/intel-rapl:") + zone + "/energy_uj";
    ASSERT_EQ(::chmod(root.at(file).c_str(), 0), 0);
  }
  const AsNobody nobody;
  OpenedSource source(rapl_collector::entry, root.path());
  EXPECT_EQ(source.missing("hw.energy"),
            "no permission to read /sys/class/powercap/intel-rapl:0/energy_uj | "
            "sudo chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj");
}

TEST(Rapl, says_why_it_is_missing) {
  OpenedSource vm(rapl_collector::entry, machine_root("vm"));
  EXPECT_EQ(vm.missing("hw.energy"), "this virtual machine does not show energy counters");
  OpenedSource board(rapl_collector::entry, machine_root("jetson"));
  EXPECT_EQ(board.missing("hw.energy"),
            "no energy counters (RAPL) in /sys/class/powercap | "
            "sudo modprobe intel_rapl_msr");
}

}  // namespace rapl_test

}  // namespace trainscope
