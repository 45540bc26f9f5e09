// For tests of comparisons: runs of known step times and known loads.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compare/compare.h"
#include "testing/fake_run.h"
#include "testing/listed_reports.h"

namespace trainscope {

// Numbers around 0 that depend on the one before them, the same for the same seed.
class PlantedNoise {
 public:
  explicit PlantedNoise(uint64_t seed) : state_(seed * 2654435761U + 1) {}
  double next() {
    double sum = 0;  // of 12 numbers from 0 to 1, less 6: nearly normal
    for (int i = 0; i < 12; ++i) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      sum += static_cast<double>(state_ >> 11U) / 9007199254740992.0;
    }
    return last_ = 0.5 * last_ + sum - 6;
  }

 private:
  uint64_t state_;
  double last_ = 0;
};

struct PlantedJob {
  uint64_t seed = 1;
  double step_s = 0.1;
  int steps = 600;
  double noise = 0.05;      // of a step
  double input_share = -1;  // below 0: no phases
  double cpu = 0.5;         // utilisation of the machine
  double gpu_watts = 0;     // 0: there is no GPU
  double batch = 0;         // 0: unknown
  int warmup = 0;           // first steps that take five times as long
  double first_wait_s = 0;  // for the first batch
  double checkpoint_s = 0;  // after every hundredth step
  double accuracy = 0;      // of the test set at the end, growing evenly; 0: not reported
};

inline FakeRun planted_run(const PlantedJob& job) {
  PlantedNoise noise(job.seed);
  std::vector<StoredReport> reports;
  double now_s = 1;
  const auto report = [&](const std::string& line) {
    reports.push_back({now_s, "pipe", *parse_report(line)});
  };
  if (job.batch > 0) report(fmt::format("batch {}", job.batch));
  report("step 0");
  for (int i = 1; i <= job.steps; ++i) {
    const double step_s = job.step_s * (1 + job.noise * noise.next()) * (i <= job.warmup ? 5 : 1);
    if (job.input_share >= 0) {
      const double wait_s = step_s * job.input_share + (i == 1 ? job.first_wait_s : 0);
      now_s += wait_s;
      report(fmt::format("phase input {}", wait_s));
      now_s += step_s * (1 - job.input_share);
    } else {
      now_s += step_s;
    }
    report(fmt::format("step {}", i));
    if (job.accuracy > 0 && i % 10 == 0) {
      report(fmt::format("scalar accuracy {} set=test", job.accuracy * i / job.steps));
    }
    if (job.checkpoint_s > 0 && i % 100 == 0) {
      now_s += job.checkpoint_s;
      report(fmt::format("phase checkpoint {}", job.checkpoint_s));
    }
  }
  const double duration_s = now_s + 1;
  FakeRun run(0.1, duration_s);
  run.own_manifest().id = fmt::format("run{:07}", job.seed);
  run.own_manifest().host_name = "node1";
  run.set_host(R"({"threads": 2, "cpu_model": "a processor"})");
  if (job.steps > 0) run.set_training(read_listed(std::move(reports), duration_s));
  std::vector<double> times, load, power;
  for (int i = 0; i * 0.1 <= duration_s; ++i) {
    times.push_back(i * 0.1);
    load.push_back(job.cpu * (1 + 0.02 * noise.next()));
    power.push_back(job.gpu_watts * (1 + 0.01 * noise.next()));
  }
  run.add("system.cpu.utilization", {{"cpu", "all"}}, Kind::gauge, times, load);
  if (job.gpu_watts > 0) {
    run.add("hw.gpu.power", {{"gpu", "0"}}, Kind::gauge, times, power);
    run.last_series().unit = "W";
  }
  return run;
}

// Runs by their paths.
class PlantedHome {
 public:
  FakeRun& add(const std::string& path, FakeRun run) {
    return runs_.insert_or_assign(path, std::move(run)).first->second;
  }
  FakeRun& add(const std::string& path, const PlantedJob& job) {
    return add(path, planted_run(job));
  }
  Result<Comparison> compare(const std::vector<std::string>& a, const std::vector<std::string>& b,
                             const CompareOptions& options = {}) const {
    return compare_runs(a, b, options,
                        [&](const std::string& path) -> Result<std::unique_ptr<RunView>> {
                          const auto found = runs_.find(path);
                          if (found == runs_.end()) return Error("no run " + path);
                          return std::unique_ptr<RunView>(std::make_unique<FakeRun>(found->second));
                        });
  }

 private:
  std::map<std::string, FakeRun> runs_;
};

inline std::string warning_ids(const Comparison& comparison) {
  std::string text;
  for (const ComparisonWarning& warning : comparison.warnings) text += warning.id + " ";
  return text;
}

inline const ComparedMetric* find_compared(const Comparison& comparison, const std::string& name) {
  for (const ComparedMetric& metric : comparison.metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

}  // namespace trainscope
