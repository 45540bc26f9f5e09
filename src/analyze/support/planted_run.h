// For tests of rules: a run in which something known happens.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyze/analyze.h"
#include "testing/fake_run.h"
#include "testing/listed_reports.h"

namespace trainscope {

inline constexpr double kLengthS = 20;

// A run of 20 s on two cores, in which each counter grows evenly.
class PlantedRun {
 public:
  PlantedRun() : run_(0.1, kLengthS) { run_.set_host(R"({"threads": 2})"); }

  PlantedRun& rate(const std::string& metric, const Labels& labels, double per_s) {
    std::vector<double> times, values;
    for (int i = 0; i <= 200; ++i) {
      times.push_back(i * 0.1);
      values.push_back(i * 0.1 * per_s);
    }
    run_.add(metric, labels, Kind::counter, times, values);
    return *this;
  }
  PlantedRun& level(const std::string& metric, const Labels& labels, double value) {
    std::vector<double> times;
    for (int i = 0; i <= 40; ++i) times.push_back(i * 0.5);
    run_.add(metric, labels, Kind::gauge, times, std::vector<double>(times.size(), value));
    return *this;
  }
  PlantedRun& level_at(const std::string& metric, const Labels& labels,
                       const std::vector<double>& times, double value) {
    run_.add(metric, labels, Kind::gauge, times, std::vector<double>(times.size(), value));
    return *this;
  }
  // How often the series that was added last is sampled.
  PlantedRun& every(double period_s) {
    run_.last_series().period_s = period_s;
    return *this;
  }
  PlantedRun& cpu(double job_cores, double machine_cores) {
    rate("job.cpu.time", {{"mode", "user"}}, job_cores);
    return rate("system.cpu.time", {{"cpu", "all"}, {"state", "user"}}, machine_cores);
  }
  PlantedRun& thread(const std::string& role, double running, double runnable) {
    rate("job.thread.time", {{"role", role}, {"state", "running"}}, running);
    rate("job.thread.time", {{"role", role}, {"state", "runnable"}}, runnable);
    return rate("job.thread.time", {{"role", role}, {"state", "blocked"}}, 1 - running - runnable);
  }
  // Steps of 0.1 s that begin with waiting for data.
  PlantedRun& steps(double input_share) {
    std::vector<StoredReport> reports;
    for (int i = 1; i < 200; ++i) {
      const double end_s = i * 0.1;
      if (input_share > 0) {
        reports.push_back({end_s - 0.1 * (1 - input_share), "pipe",
                           *parse_report(fmt::format("phase input {}", 0.1 * input_share))});
      }
      reports.push_back({end_s, "pipe", *parse_report(fmt::format("step {}", i))});
    }
    return report(std::move(reports));
  }
  PlantedRun& report(std::vector<StoredReport> reports) {
    run_.set_training(read_listed(std::move(reports), kLengthS));
    return *this;
  }
  // A counter that grows only in these tenths of a second, from 0 on.
  PlantedRun& bursts(const std::string& metric, const Labels& labels, double per_tenth,
                     bool (*is_burst)(int tenth)) {
    std::vector<double> times, values;
    double value = 0;
    for (int i = 0; i <= 200; ++i) {
      times.push_back(i * 0.1);
      values.push_back(value);
      if (is_burst(i)) value += per_tenth;
    }
    run_.add(metric, labels, Kind::counter, times, values);
    return *this;
  }
  // A counter that grows at one rate up to this time, and at another one afterwards.
  PlantedRun& changing(const std::string& metric, const Labels& labels, double change_s,
                       double before, double after) {
    std::vector<double> times, values;
    double value = 0;
    for (int i = 0; i <= 200; ++i) {
      times.push_back(i * 0.1);
      values.push_back(value);
      value += 0.1 * (i * 0.1 < change_s ? before : after);
    }
    run_.add(metric, labels, Kind::counter, times, values);
    return *this;
  }
  PlantedRun& mark(const std::string& text) {
    run_.add_event({1, "mark", text});
    return *this;
  }
  PlantedRun& event(const std::string& kind, const std::string& text) {
    run_.add_event({1, kind, text});
    return *this;
  }
  PlantedRun& command(std::vector<std::string> words) {
    run_.set_command(std::move(words));
    return *this;
  }
  PlantedRun& limits(std::vector<Limit> measured) {
    run_.set_limits({"node1", std::move(measured), {}});
    return *this;
  }
  PlantedRun& host(const std::string& json) {
    run_.set_host(json);
    return *this;
  }
  Diagnosis diagnose() const {
    auto diagnosis = trainscope::diagnose(run_);
    EXPECT_TRUE(diagnosis);
    expect_listed(*diagnosis);
    return *diagnosis;
  }

 private:
  // The reference has every finding and every cause.
  static void expect_listed(const Diagnosis& diagnosis) {
    for (const Finding& finding : diagnosis.findings) {
      const auto all = rules();
      const bool is_of_rule = std::any_of(
          all.begin(), all.end(), [&](const Rule* rule) { return rule->name == finding.id; });
      EXPECT_TRUE(is_of_rule || find_other_finding(finding.id) != nullptr) << finding.id;
    }
    const auto all = causes();
    const bool is_listed = std::any_of(all.begin(), all.end(), [&](const Cause& cause) {
      return cause.verdict == diagnosis.verdict && cause.cause == diagnosis.cause;
    });
    EXPECT_TRUE(diagnosis.cause.empty() || is_listed) << diagnosis.cause;
  }

  FakeRun run_;
};

// Ids of the findings above `info`.
inline std::string raised(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.severity != "info") text += finding.id + " ";
  }
  return text;
}

}  // namespace trainscope
