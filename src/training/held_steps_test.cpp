#include "training/held_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/clock.h"

namespace trainscope {
namespace held_steps_test {

TrainingNumber loss_at(double time_s) {
  return {"loss", "validation", "tensorboard", time_s, {}, 1};
}

TEST(HeldResults, of_a_source_that_is_read_late_are_held_by_time) {
  HeldResults held;
  held.add({"lr", "train", "tensorboard", 1, {}, 1});
  for (const double time_s : {1.0, 3.0, 5.0, 2.0, 4.0, 3.0}) held.add(loss_at(time_s));
  held.settle();
  std::vector<double> times;
  for (const TrainingNumber& number : held.numbers()) times.push_back(number.time_s);
  EXPECT_EQ(times, (std::vector<double>{1, 2, 3, 3, 4, 5}));
}

int64_t cpu_ns_of(const std::function<void()>& work) {
  const int64_t begin_ns = thread_cpu_ns();
  work();
  return thread_cpu_ns() - begin_ns;
}

TEST(HeldResults, are_the_last_ones_and_cost_no_search_for_their_place) {
  constexpr size_t kLate = 200'000;
  HeldResults held;
  for (size_t i = 0; i < HeldResults::kMost; ++i) held.add(loss_at(1e6 + static_cast<double>(i)));
  held.settle();
  const int64_t held_ns = cpu_ns_of([&] {
    for (size_t i = 0; i < kLate; ++i) held.add(loss_at(static_cast<double>(i)));
    held.add(loss_at(1e6 + 0.5));
    held.settle();
  });
  // Less than to sort as many once, the last first; a search for each costs far more.
  const int64_t sorted_ns = cpu_ns_of([] {
    std::vector<TrainingNumber> numbers;
    for (size_t i = 0; i < kLate; ++i) numbers.push_back(loss_at(static_cast<double>(kLate - i)));
    std::stable_sort(numbers.begin(), numbers.end(),
                     [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  });
  EXPECT_LT(held_ns, 2 * sorted_ns);
  ASSERT_EQ(held.numbers().size(), HeldResults::kMost);
  EXPECT_EQ(held.numbers().front().time_s, 1e6 + 0.5);
  EXPECT_EQ(held.numbers().back().time_s, 1e6 + static_cast<double>(HeldResults::kMost - 1));
}

}  // namespace held_steps_test
}  // namespace trainscope
