// One line of training progress (docs/guide/progress.md), as senders write it to the pipe and as a
// run stores it.
//
// Guarantees: parse_report reads back exactly what format_report writes. A malformed line is an
// Error with the reason, never a guess. Limits: kMaxReportBytes per line, 128 per name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainscope {

// Of steps and epochs. Numbers up to here are exact as doubles; above it is a time, not a step.
inline constexpr int64_t kMaxReportNumber = int64_t{1} << 53;
inline constexpr size_t kMaxReportBytes = 4096;  // of a sender's line; a stored line may be longer

struct Report {
  enum class Kind { step, epoch, begin, end, phase, batch, scalar, mark, dropped };
  Kind kind = Kind::step;
  std::optional<int64_t> number;   // of step and epoch, if given; of batch and dropped
  std::string name;                // of a phase or scalar; the text of a mark
  double value = 0;                // of a scalar; seconds of a phase
  std::optional<int64_t> time_ns;  // t=
  std::string who, set;            // words for a set are replaced by train, validation or test
  // Other NAME=NUMBER pairs, in that order: loss, accuracy, epoch, of, …
  std::vector<std::pair<std::string, double>> numbers;

  std::optional<double> find(std::string_view name) const;
  // Its values are of a set that the job does not train on.
  bool is_of_other_set() const { return !set.empty() && set != "train"; }
};

// The set that a word means: val, valid, validation, eval and evaluation are the validation set.
// Nothing for another word.
std::string_view set_of_word(std::string_view word);

// The name of a number and its set, by the prefix of its name: "val_loss" and "eval_loss" are the
// loss of the validation set, "test_loss" that of the test set. No prefix: no set. ("train_loss" is
// another number than "loss": Hugging Face reports the mean of all steps by that name.)
struct NamedNumber {
  std::string_view name, set;
};
NamedNumber without_set_prefix(std::string_view name);
// Does a number of this name state where in the training a report is, or how long the step took?
bool is_place_in_training(std::string_view name);

Result<Report> parse_report(std::string_view line);
// The same, using the memory of `report` again.
Status parse_report(std::string_view line, Report& report);
// Without a newline.
std::string format_report(const Report& report);

}  // namespace trainscope
