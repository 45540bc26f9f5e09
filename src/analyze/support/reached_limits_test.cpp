#include "analyze/support/reached_limits.h"

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace reached_limits_test {

constexpr double kMiB = 1 << 20;

Limit storage_limit(const char* name, double value, const char* unit, const char* device) {
  return {name, value, unit, "", "2026-01-02T03:04:05.000Z", "/data", device};
}

// A job that reads so much from storage.
PlantedRun reader(double job_bytes) {
  PlantedRun run;
  run.rate("job.disk.io", {{"direction", "read"}}, job_bytes);
  run.limits({storage_limit("disk.read.sequential", 150 * kMiB, "By/s", "sda"),
              storage_limit("disk.read.random", 5000, "{operation}/s", "sda")});
  return run;
}

void serve(PlantedRun& run, const char* device, double bytes, double requests = 100) {
  run.rate("system.disk.io", {{"device", device}, {"direction", "read"}}, bytes);
  run.rate("system.disk.operations", {{"device", device}, {"direction", "read"}}, requests);
}

void work_on(PlantedRun& run, const char* mount_point) {
  run.host(
      fmt::format(R"({{"threads":2,"filesystems":{{"working_directory":{{"mountpoint":"{}"}}}}}})",
                  mount_point));
}

std::string limits_of(const PlantedRun& run) {
  std::string text;
  for (const ReachedLimit& one : run.diagnose().limits) {
    text += fmt::format("{} {:.1f} ", one.name, one.reached / (one.unit == "By/s" ? kMiB : 1));
  }
  return text;
}

TEST(ReachedLimits, a_disk_that_others_read_is_not_taken_for_that_of_the_job) {
  for (const double of_others : {60, 90, 100, 300}) {
    PlantedRun run = reader(110 * kMiB);
    serve(run, "nvme1n1", 110 * kMiB);
    serve(run, "sda", of_others * kMiB);
    EXPECT_EQ(limits_of(run), "") << of_others;
  }
  PlantedRun alone = reader(110 * kMiB);
  serve(alone, "nvme1n1", 10 * kMiB);
  serve(alone, "sda", 120 * kMiB);
  EXPECT_EQ(limits_of(alone), "disk.read.sequential 110.0 ");
  PlantedRun volume = reader(110 * kMiB);
  serve(volume, "dm-0", 110 * kMiB);
  serve(volume, "sda", 111 * kMiB);
  EXPECT_EQ(limits_of(volume), "disk.read.sequential 110.0 ") << "the same reads, counted twice";
}

TEST(ReachedLimits, a_job_that_reads_nothing_reaches_no_limit) {
  PlantedRun run = reader(0);
  serve(run, "sda", 0);
  serve(run, "sdb", 60 * kMiB);
  EXPECT_EQ(limits_of(run), "");
}

TEST(ReachedLimits, random_reads_are_small_requests_of_the_job) {
  PlantedRun small = reader(8 * kMiB);
  serve(small, "sda", 10 * kMiB, 2560);  // of 4 KiB
  EXPECT_EQ(limits_of(small), "disk.read.sequential 8.0 disk.read.random 2048.0 ");
  PlantedRun large = reader(8 * kMiB);
  serve(large, "sda", 10 * kMiB, 80);  // of 128 KiB
  EXPECT_EQ(limits_of(large), "disk.read.sequential 8.0 ");
}

TEST(ReachedLimits, a_file_system_without_a_disk_is_compared_with_all_reads) {
  const auto reading = [](double job_bytes, double disk_bytes) {
    PlantedRun run = reader(disk_bytes);
    run.rate("job.io.bytes", {{"direction", "read"}}, job_bytes);
    serve(run, "sda", 0);
    work_on(run, "/data");
    run.limits({storage_limit("disk.read.sequential", 150 * kMiB, "By/s", "")});
    return limits_of(run);
  };
  EXPECT_EQ(reading(90 * kMiB, 0), "disk.read.sequential 90.0 ");
  EXPECT_EQ(reading(0, 0), "");
  EXPECT_EQ(reading(900 * kMiB, 0), "") << "the page cache served most of it";
}

TEST(ReachedLimits, a_device_that_is_not_recorded_is_found_by_its_mount_point) {
  const auto limits_on = [](const char* mount_point) {
    PlantedRun run = reader(90 * kMiB);
    serve(run, "sdb", 90 * kMiB);
    work_on(run, mount_point);
    run.limits({storage_limit("disk.read.sequential", 150 * kMiB, "By/s", "loop0")});
    return limits_of(run);
  };
  EXPECT_EQ(limits_on("/data"), "disk.read.sequential 90.0 ");
  EXPECT_EQ(limits_on("/home"), "");
}

TEST(ReachedLimits, another_machine_of_the_same_name_says_nothing) {
  const auto limits_with = [](const char* machine) {
    FakeRun run(0.1, kLengthS);
    run.set_host(R"({"cpu_model": "Cray", "threads": 2})");
    run.add("hw.gpu.pcie.io", {{"direction", "receive"}, {"gpu", "0"}}, Kind::counter, {0, 20},
            {0, 20e9});
    MachineLimits limits;
    limits.host = "node1";
    limits.machine = machine;
    limits.limits = {{"gpu.copy.host_to_device", 5e10, "By/s", "", "2026-01-02", "", ""}};
    run.set_limits(std::move(limits));
    return diagnose(run)->limits.size();
  };
  EXPECT_EQ(limits_with("Cray, 2 CPUs"), 1U);
  EXPECT_EQ(limits_with(""), 1U);
  EXPECT_EQ(limits_with("Cray, 4 CPUs"), 0U);
}

}  // namespace reached_limits_test
}  // namespace trainscope
