// Where the time went as the job reports it: shares of any part of the training.
//
// What is judged begins after the first wait for data, which is that of a start: it contains the
// start of the workers. Checkpoints before the first step and after the last one are outside, but
// for those after it that interrupted the steps before too: each epoch may end with one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"
#include "model/training.h"

namespace trainscope {

class ReportedTime {
 public:
  static Result<std::shared_ptr<const ReportedTime>> of(const RunView& run);

  // What is judged: the steps, or, without steps, from the first phase to the last; the whole run
  // if nothing was reported.
  double begin_s() const { return begin_s_; }
  double end_s() const { return end_s_; }
  // What ends then: the last step, checkpoint or evaluation.
  const std::string& end_kind() const { return end_kind_; }
  // When the first step began: `begin_s` less the wait for its data.
  double first_step_s() const { return first_step_s_; }
  // Of the time from then on, what made the first steps slower than the others.
  double warmup_s() const { return warmup_s_; }
  int64_t steps() const { return steps_; }
  std::optional<double> batch() const { return batch_; }  // items per step, the largest reported

  bool has_phases() const { return has_phases_; }  // of input or of compute
  bool knows_input() const { return knows_input_; }
  std::optional<double> share(std::string_view part, double from_s, double to_s) const;
  // Of waiting for data, what a device had to wait for too: all of it where devices are unknown.
  std::optional<double> lost_input(double from_s, double to_s) const;
  // Of waits that make a step long, what lasts beyond the rest of a usual step: no batch that is
  // loaded meanwhile hides it.
  double unhidden_input_s(double from_s, double to_s) const;
  // Of waiting for data, what the first batches of later epochs take beyond what others do.
  double start_waits_s(double from_s, double to_s) const;
  // Share of the steps before which a device had nothing left to do; empty: unknown.
  std::optional<double> dry_share() const { return dry_share_; }
  // Of the time, beyond the usual duration of a step, in steps whose length no phase explains.
  double long_steps_share(double from_s, double to_s) const;
  // The part of it in which the job writes, or waits for that; all of it if that is most of it.
  // Empty: unknown.
  std::optional<double> saving_share(double from_s, double to_s) const;
  // analyze/support/reported.h, of these steps; the second only of jobs that do not report waits
  std::optional<double> writes_in_long_steps() const { return writes_; }
  std::optional<double> work_in_long_steps() const { return work_; }
  const AnalysisResult& step_time() const { return step_time_; }
  // The phase that takes most of the time, of those with names of the job's own.
  struct NamedShare {
    std::string name;
    double share = 0;
  };
  std::optional<NamedShare> largest_other_phase() const;

 private:
  struct StartWait {
    double from_s = 0, to_s = 0, excess_s = 0;
  };

  Status read_steps(const RunView& run);
  Status read_phases_alone(const RunView& run);
  void find_begin(const Training& training);
  void find_end(const Training& training);
  void find_later_starts(const Training& training);
  bool has_pauses(std::string_view kind) const;
  double paused_s(std::string_view kind, double from_s, double to_s) const;

  double begin_s_ = 0, end_s_ = 0, first_step_s_ = 0, warmup_s_ = 0, typical_rest_s_ = 0;
  std::string end_kind_ = "step";
  int64_t steps_ = 0;
  bool has_phases_ = false, knows_input_ = false;
  StepTimeline timeline_;
  std::vector<StartWait> later_starts_;
  AnalysisResult step_time_;
  std::optional<double> dry_share_, writes_, saving_, work_, batch_;
  std::map<std::string, double, std::less<>> shares_;  // of all that is judged
};

}  // namespace trainscope
