// Everything that a training run reports: lines on stdout, the step log, summaries, and progress to
// a recorder (docs/guide/progress.md).
//
// Guarantees: stdout lines keep their form (scripts parse them) and each is flushed at once; the
// step log has one line for every step, on disk before the next one begins.
// Limits: images/s counts time inside steps only; evaluation is not in it. A printed loss is the
// mean since the last printed line; the recorder gets each step's own.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "options.h"
#include "train/summaries.h"

namespace trainscope::workload {

struct StepRecord {
  std::uint64_t number = 0;  // from 1
  std::uint64_t images = 0;
  double loss = 0.0;
  double begin_s = 0.0;
  double duration_s = 0.0;
};

// Reports the parts of a step to the recorder as phases, one after the other.
class StepPhases {
 public:
  explicit StepPhases(double begin_s) : begin_s_(begin_s) {}
  // How many seconds it took.
  double end(std::string_view phase);

 private:
  double begin_s_;
};

struct Evaluation {
  double accuracy = 0.0;
  double loss = 0.0;
};

class TrainingReport {
 public:
  // Fails where the step log cannot be written.
  static Result<TrainingReport> open(const TrainOptions& options);

  void step(const StepRecord& record);
  void epoch_ends(std::uint64_t number);
  void checkpoint_begins();
  void checkpoint_ends();
  void evaluation_begins();
  void evaluation_ends(std::uint64_t step, const Evaluation& result);

  // The last line; fails where the step log or the summaries are not whole (disk full).
  Status done(std::uint64_t steps, double seconds, double accuracy);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  explicit TrainingReport(const std::string& summaries) : summaries_(summaries) {}
  void set_batch(std::uint64_t images);

  std::uint64_t every_ = 1;
  std::unique_ptr<std::FILE, CloseFile> step_log_;
  std::string step_log_name_;
  bool step_log_broken_ = false;
  Summaries summaries_;

  std::uint64_t batch_ = 0;  // as the recorder knows it

  // Since the epoch began.
  double epoch_loss_sum_ = 0.0;
  std::uint64_t epoch_steps_ = 0;

  // Since the last printed line; after --resume fewer steps than every_.
  double loss_sum_ = 0.0;
  std::uint64_t steps_ = 0;
  double busy_s_ = 0.0;
  std::uint64_t images_ = 0;
};

}  // namespace trainscope::workload
