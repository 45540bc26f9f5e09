#include "training/phase_sums.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace phase_sums_test {

// Ten steps of a second with a copy of 0.1 s, and then these lines.
std::vector<std::string> ten_steps_and(const std::vector<std::string>& more) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 10; ++i) {
    lines.push_back(fmt::format("{} pipe phase transfer 0.1", i - 0.5));
    lines.push_back(fmt::format("{} pipe step {}", i, i));
  }
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

double transfer_s(const std::vector<std::string>& lines) {
  const ListedTraining training = read_lines(lines, 20);
  const PhaseSum* const sum = training.find_phase_sum("transfer");
  return sum == nullptr ? 0 : sum->time_s;
}

TEST(PhaseSums, what_follows_the_last_step_is_no_part_of_the_steps) {
  EXPECT_NEAR(transfer_s(ten_steps_and({})), 1, 1e-9);
  EXPECT_NEAR(transfer_s(ten_steps_and({"12 pipe phase transfer 1", "14 pipe begin transfer"})), 1,
              1e-9)
      << "predictions of the trained model";
  EXPECT_NEAR(transfer_s({"1 pipe phase transfer 1", "3 pipe phase transfer 1"}), 2, 1e-9)
      << "without steps there is no last one";
}

TEST(PhaseSums, what_an_evaluation_did_is_known_when_it_has_ended) {
  const std::vector<std::string> evaluated = {
      "11 pipe phase transfer 0.5", "12 pipe phase transfer 0.5", "12.5 pipe phase evaluation 2",
      "13 pipe phase transfer 0.1", "13.5 pipe step 11"};
  EXPECT_NEAR(transfer_s(ten_steps_and(evaluated)), 1.1, 1e-9);
}

}  // namespace phase_sums_test
}  // namespace trainscope
