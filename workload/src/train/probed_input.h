// The workload's part in `trainscope probe`: in random blocks of steps it learns from the batch
// that it has, instead of waiting for the next one (docs/adr/0020).
//
// Guarantees: nothing is changed outside a probe, once its supervisor has ended, or when its time
// is over; that is checked at each step. Limits: only the input is replaced.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

namespace trainscope::workload {

class ProbedInput {
 public:
  // Reads the lease of the run that this process belongs to, if that is a probe.
  ProbedInput();
  ~ProbedInput();
  ProbedInput(const ProbedInput&) = delete;
  ProbedInput& operator=(const ProbedInput&) = delete;

  // Whether the next step has to do with the batch of the last one.
  bool is_replaced() const { return is_changed_; }
  // How long a step has waited for a batch that was not replaced.
  void note_wait(double wait_s);
  // After the step was reported.
  void end_step(double now_s, double duration_s);

 private:
  bool is_held(double now_s) const;
  void begin_block();
  void begin_to_keep(double now_s, double duration_s);
  void end_block();
  void give_up_pair();
  bool has_settled(double now_s) const;
  bool are_waits_felt() const;
  double long_wait_s() const;

  std::string key_;
  int supervisor_ = -1;  // a pidfd; -1: this is not a probe, or no longer
  double until_s_ = 0;

  std::uint64_t step_ = 0, first_ = 0, last_ = 0;  // steps so far; of this block
  std::uint64_t pair_ = 0, long_waits_ = 0, discarded_ = 0, drained_ = 0;
  int place_ = -1;  // in the pair; -1: before the first block
  bool is_changed_ = false, is_first_changed_ = false, settles_ = false, owes_drain_ = false;
  double begun_s_ = 0, kept_from_s_ = 0,
         step_s_ = 0;  // kept_from_s_ is 0 until the job has settled
  std::deque<double> waits_;
};

}  // namespace trainscope::workload
