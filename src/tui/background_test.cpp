#include "tui/background.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>

namespace trainscope {

namespace background_test {

struct Doubled {
  int value = 0;
  bool is_final = false;
};

std::shared_ptr<const int> new_wake_fd() {
  return {new int(::eventfd(0, EFD_CLOEXEC)), [](const int* fd) {
            ::close(*fd);
            delete fd;
          }};
}

void wait_for_answer(const std::shared_ptr<const int>& wake_fd) {
  eventfd_t ignored = 0;
  ASSERT_EQ(::eventfd_read(*wake_fd, &ignored), 0);
}

TEST(Background, answers_the_newest_request) {
  const auto wake_fd = new_wake_fd();
  Background<int, Doubled> background(
      [](int request) {
        return Doubled{2 * request, true};
      },
      1, wake_fd);
  background.ask(21);
  wait_for_answer(wake_fd);
  const auto answer = background.take();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->value, 42);
  EXPECT_FALSE(background.take());
}

TEST(Background, repeats_the_work_until_its_answer_is_final) {
  const auto wake_fd = new_wake_fd();
  const auto count = std::make_shared<std::atomic<int>>(0);
  Background<int, Doubled> background(
      [count](int) {
        const int now = ++*count;
        return Doubled{now, now == 3};
      },
      1, wake_fd);
  background.ask(1);
  for (Doubled last; last.value < 3;) {
    wait_for_answer(wake_fd);
    if (const auto answer = background.take()) last = *answer;
  }
  EXPECT_EQ(*count, 3);
}

TEST(Background, work_that_hangs_delays_nothing_and_is_left_behind) {
  const auto wake_fd = new_wake_fd();
  const auto pipe = std::make_shared<std::array<int, 2>>();
  ASSERT_EQ(::pipe(pipe->data()), 0);
  {
    Background<int, Doubled> background(
        [pipe](int) {
          char byte = 0;
          (void)!::read((*pipe)[0], &byte, 1);
          return Doubled{1, true};
        },
        1, wake_fd);
    background.ask(1);
    while (background.busy_s() == 0) ::usleep(100);
    background.ask(2);
    EXPECT_FALSE(background.take());
    EXPECT_GT(background.busy_s(), 0);
  }
  ASSERT_EQ(::write((*pipe)[1], "x", 1), 1);  // so that the thread ends before the test program
  wait_for_answer(wake_fd);
}

TEST(Background, work_that_throws_is_tried_again) {
  const auto wake_fd = new_wake_fd();
  const auto count = std::make_shared<std::atomic<int>>(0);
  Background<int, Doubled> background(
      [count](int) -> Doubled {
        if (++*count == 1) throw std::bad_alloc();
        return {*count, true};
      },
      1, wake_fd);
  background.ask(1);
  std::optional<Doubled> answer;
  while (!answer) {
    wait_for_answer(wake_fd);
    answer = background.take();
  }
  EXPECT_EQ(answer->value, 2);
}

}  // namespace background_test

}  // namespace trainscope
