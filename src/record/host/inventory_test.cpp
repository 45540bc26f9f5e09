#include "record/host/inventory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "record/host/test_environment.h"
#include "record/record.h"
#include "testing/test_root.h"

namespace trainscope {
namespace inventory_test {

const std::string kDgx = std::string(TRAINSCOPE_TEST_DATA) + "/inventory/dgx";

Json inventory(const std::string& root, const std::string& folder = "/home/ann/project") {
  return Json::parse(host_inventory(root, folder, {"./train"}, "/data sets/runs/1"));
}

TEST(Inventory, processors_memory_and_system) {
  const Json host = inventory(kDgx);
  EXPECT_EQ(host["name"], "dgx-07");
  EXPECT_EQ(host["kernel"], "5.15.0-1042-nvidia");
  EXPECT_EQ(host["distribution"], "Ubuntu 22.04.4 LTS");
  EXPECT_EQ(host["cpu_model"], "Intel(R) Xeon(R) Platinum 8480C");
  EXPECT_EQ(host["sockets"], 2);
  EXPECT_EQ(host["cores"], 4);
  EXPECT_EQ(host["threads"], 8);
  EXPECT_EQ(host["memory_bytes"], int64_t{2113412096} * 1024);
  EXPECT_EQ(host["virtualisation"], "none");
}

TEST(Inventory, an_arc_card_is_a_gpu_and_the_graphics_of_the_processor_is_not) {
  const TestRoot root;
  for (const char* address : {"0000:00:02.0", "0000:03:00.0"}) {
    const std::string folder = std::string("/sys/bus/pci/devices/") + address;
    root.write(folder + "/class", "0x030000\n");
    root.write(folder + "/vendor", "0x8086\n");
  }
  const Json host = inventory(root.path());
  EXPECT_EQ(host["display_devices"].size(), 2U);
  ASSERT_EQ(host["gpus"].size(), 1U);
  EXPECT_EQ(host["gpus"][0]["pci"], "0000:03:00.0");
  EXPECT_EQ(host["gpus"][0]["vendor"], "intel");
}

TEST(Inventory, cpus_of_the_job_are_the_smaller_of_mask_and_quota) {
  const Json host = inventory(kDgx);
  EXPECT_EQ(host["allowed_cpus"], 6);
  EXPECT_EQ(host["job_cpus"], 4.5);
  EXPECT_EQ(host["cgroup"]["memory_bytes"], int64_t{68719476736});
}

TEST(Inventory, a_whole_number_of_cpus_is_an_integer) {
  const TestRoot root;
  root.write("/proc/self/status", "Cpus_allowed_list:\t0,2-3\n");
  EXPECT_TRUE(inventory(root.path())["job_cpus"].is_number_integer());
  EXPECT_EQ(inventory(root.path())["job_cpus"], 3);
  EXPECT_EQ(inventory(root.path())["allowed_cpu_list"], "0,2-3");
}

// For an attached job its own limits count, not ours.
TEST(Inventory, limits_are_those_of_the_attached_process) {
  const TestRoot root;
  root.write("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
  root.write("/proc/4711/status", "Cpus_allowed_list:\t2-3\n");
  const Json host = Json::parse(host_inventory(root.path(), "/", {}, "", 4711));
  EXPECT_EQ(host["job_cpus"], 2);
  EXPECT_EQ(usable_cpus(root.path(), 4711), 2.0);
  EXPECT_EQ(usable_cpus(root.path(), 0), 8.0);
}

TEST(Inventory, disks_are_those_with_a_medium) {
  const Json disks = inventory(kDgx)["disks"];
  ASSERT_EQ(disks.size(), 2U);
  EXPECT_EQ(disks[0]["name"], "nvme0n1");
  EXPECT_EQ(disks[0]["size_bytes"], int64_t{3750748848} * 512);
  EXPECT_EQ(disks[0]["rotational"], false);
  EXPECT_EQ(disks[0]["model"], "SAMSUNG MZWLO3T8HCLS-00A07");
  EXPECT_EQ(disks[1]["rotational"], true);
}

TEST(Inventory, file_systems_by_the_longest_mount_point) {
  const Json systems = inventory(kDgx)["filesystems"];
  EXPECT_EQ(systems["working_directory"]["type"], "lustre");
  EXPECT_EQ(systems["run_folder"]["type"], "nfs4");
  EXPECT_EQ(systems["run_folder"]["mountpoint"], "/data sets");
  EXPECT_EQ(systems["run_folder"]["device"], "filer:/export/data sets");
  EXPECT_EQ(inventory(kDgx, "/homestead")["filesystems"]["working_directory"]["type"], "ext4");
}

TEST(Inventory, gpus_by_driver_and_bus) {
  const Json host = inventory(kDgx);
  EXPECT_EQ(host["gpu_driver"], "535.161.08");
  const Json& gpus = host["gpus"];
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0]["index"], 0);
  EXPECT_EQ(gpus[0]["name"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpus[0]["uuid"], "GPU-0a1b2c3d-0000-1111-2222-333344445550");
  EXPECT_TRUE(gpus[0]["memory_bytes"].is_null());
  EXPECT_TRUE(gpus[1]["uuid"].is_null());  // the driver shows question marks
  EXPECT_EQ(gpus[2]["vendor"], "amd");
  EXPECT_EQ(gpus[2]["memory_bytes"], int64_t{68702699520});
  EXPECT_EQ(host["display_devices"].size(), 4U);  // with the console, without the network card
}

TEST(Inventory, container_by_its_cgroup) {
  TestEnvironment environment;
  for (const char* name : {"KUBERNETES_SERVICE_HOST", "container", "APPTAINER_CONTAINER"}) {
    environment.set(name, nullptr);
  }
  EXPECT_EQ(inventory(kDgx)["container"]["kind"], "kubernetes");
  const TestRoot root;
  EXPECT_TRUE(inventory(root.path())["container"]["kind"].is_null());
  root.write("/.dockerenv", "");
  EXPECT_EQ(inventory(root.path())["container"]["kind"], "docker");
}

TEST(Inventory, an_empty_root_is_unknown_not_zero) {
  const TestRoot root;
  const Json host = inventory(root.path());
  for (const char* key :
       {"name", "kernel", "distribution", "cpu_model", "sockets", "cores", "threads",
        "memory_bytes", "job_cpus", "virtualisation", "gpu_driver", "git"}) {
    EXPECT_TRUE(host[key].is_null()) << key << ": " << host[key];
  }
  EXPECT_TRUE(host["gpus"].is_array());
  EXPECT_TRUE(host["gpus"].empty());
  EXPECT_TRUE(host["software"]["packages"]["torch"].is_null());
}

TEST(Inventory, hypervisor_by_name_or_flag) {
  const TestRoot root;
  root.write("/proc/cpuinfo", "model name\t: X\nflags\t\t: fpu hypervisor avx\n");
  EXPECT_EQ(virtualisation(root.path()), "unknown hypervisor");
  root.write("/sys/class/dmi/id/sys_vendor", "QEMU\n");
  EXPECT_EQ(virtualisation(root.path()), "kvm");
}

TEST(Inventory, cores_from_cpuinfo_where_sys_is_missing) {
  const TestRoot root(std::string("server"));
  root.remove("/sys/devices/system/cpu");
  root.write("/proc/cpuinfo",
             "processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 0\n"
             "core id : 1\n\nprocessor : 2\nphysical id : 1\ncore id : 0\n");
  OrderedJson host;
  add_processors(host, root.path());
  EXPECT_EQ(host["sockets"], 2);
  EXPECT_EQ(host["cores"], 3);
  EXPECT_EQ(host["threads"], 3);
}

TEST(Inventory, a_fifo_is_not_waited_for) {
  const TestRoot root;
  root.write("/etc/x", "");
  ASSERT_EQ(::mkfifo(root.at("/etc/os-release").c_str(), 0600), 0);
  EXPECT_TRUE(distribution(root.path()).is_null());
}

TEST(Inventory, names_that_are_no_utf8_do_not_break_the_document) {
  const TestRoot root;
  root.write("/proc/sys/kernel/hostname", "h\xff\xfe\n");
  EXPECT_EQ(inventory(root.path())["name"], "h\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Inventory, cpu_lists) {
  EXPECT_EQ(count_cpu_list("0-3,8,10-11\n"), 7);
  EXPECT_EQ(count_cpu_list("0"), 1);
  EXPECT_FALSE(count_cpu_list("3-1"));
  EXPECT_FALSE(count_cpu_list(""));
}

}  // namespace inventory_test
}  // namespace trainscope
