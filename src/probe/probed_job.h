// For tests of proofs: a run whose steps were changed in blocks, as a probe reports them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probe/probe.h"
#include "testing/fake_run.h"

namespace trainscope {

inline constexpr int kStepsPerBlock = 12, kDiscarded = 2, kKept = kStepsPerBlock - kDiscarded;

// A job that is probed: its steps take `usual_s`, and `factor` times as long in changed blocks. The
// discarded steps of each block take ten times as long.
class ProbedJob {
 public:
  void add_pair(const std::string& what, double usual_s, double factor, bool is_first_changed,
                double slept_s = 0) {
    ++pair_;
    for (const bool is_first : {true, false}) {
      const bool is_changed = is_first == is_first_changed;
      const double step_s = is_changed ? usual_s * factor : usual_s;
      for (int i = 0; i < kDiscarded; ++i) add_step(10 * step_s);
      const double from_s = time_s_;
      for (int i = kDiscarded; i < kStepsPerBlock; ++i) add_step(step_s);
      run_.add_event(
          {time_s_, "mark",
           fmt::format("probe what={} changed={:d} pair={} steps=1-2 discarded={} "
                       "duration={:.9f} slept={:.9f} sleep={} given={:.9f} device={:d}{}",
                       what, is_changed, pair_, kDiscarded, time_s_ - from_s,
                       is_changed ? slept_s * kKept : 0, sleep_share,
                       is_changed ? given_s * kKept : 0, has_device,
                       cpu_text(time_s_ - from_s) + (has_own_threads ? " threads=0" : ""))});
    }
  }
  void set_ended_by(EndedBy ended_by) { run_.set_ended_by(ended_by); }
  void add_mark(const std::string& text) { run_.add_event({time_s_, "mark", text}); }
  // What a gauge of a GPU shows all the time.
  void add_gpu(const std::string& metric, const std::string& gpu, double value) {
    run_.add(metric, {{"gpu", gpu}}, Kind::gauge, {0, time_s_ / 2, time_s_}, {value, value, value});
  }
  void set_for(const std::string& duration) {
    run_.own_manifest().settings = {{"for", duration, "flag"}};
  }

  ProbeResult result() {
    Training training;
    training.details = std::make_shared<ListedSteps>(steps_);
    run_.set_training(training);
    auto read = read_probe(run_);
    EXPECT_TRUE(read && *read);
    return std::move(**read);
  }

  bool has_device = false;
  std::optional<double> cpu_share;  // of a processor, by the job's process
  double queued_share = 0;          // of the time, by its training thread
  double sleep_share = 0;           // that the host was to sleep
  double given_s = 0;               // to hand out a batch again
  bool has_own_threads = false;     // those of the framework are not lowered

 private:
  std::string cpu_text(double duration_s) const {
    if (!cpu_share) return "";
    return fmt::format(" cpu={:.9f} queued={:.9f}", *cpu_share * duration_s,
                       queued_share * duration_s);
  }
  void add_step(double duration_s) {
    time_s_ += duration_s;
    Step step;
    step.time_s = time_s_;
    step.duration_s = duration_s;
    steps_.push_back(step);
  }

  FakeRun run_{0.1, 1000};
  std::vector<Step> steps_;
  double time_s_ = 0;
  int64_t pair_ = 0;
};

inline const ProbeEffect& effect(const ProbeResult& result, const std::string& what) {
  for (const ProbeEffect& one : result.effects) {
    if (one.what == what) return one;
  }
  ADD_FAILURE() << "no effect of " << what;
  return result.effects.front();
}

}  // namespace trainscope
