#include "record/sample/shared.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace shared_test {

class Message : public testing::Test {
 protected:
  ~Message() override { memory_.unmap(); }
  SharedMemory memory_ = *SharedMemory::create(4096);
  uint32_t shown_ = 0;
};

TEST_F(Message, is_shown_once) {
  EXPECT_EQ(take_message(*memory_, shown_), std::nullopt);
  leave_message(*memory_, "recording paused");
  EXPECT_EQ(take_message(*memory_, shown_), "recording paused");
  EXPECT_EQ(take_message(*memory_, shown_), std::nullopt);
  leave_message(*memory_, std::string(1000, 'x'));
  EXPECT_EQ(take_message(*memory_, shown_), std::string(sizeof memory_->messages[0] - 1, 'x'));
}

TEST_F(Message, of_the_next_recorder_is_shown_if_the_last_one_died_while_writing) {
  memory_->message_count = 1;
  EXPECT_EQ(take_message(*memory_, shown_), std::nullopt);
  leave_message(*memory_, "recording resumed");
  EXPECT_EQ(take_message(*memory_, shown_), "recording resumed");
}

TEST_F(Message, several_messages_are_shown_in_order) {
  leave_message(*memory_, "recording paused");
  leave_message(*memory_, "samples are being lost");
  EXPECT_EQ(take_message(*memory_, shown_), "recording paused");
  EXPECT_EQ(take_message(*memory_, shown_), "samples are being lost");
  EXPECT_EQ(take_message(*memory_, shown_), std::nullopt);
}

TEST_F(Message, of_too_many_the_last_ones_are_shown) {
  for (int i = 0; i < 100; ++i) leave_message(*memory_, std::to_string(i));
  EXPECT_EQ(take_message(*memory_, shown_), "93");
  EXPECT_EQ(take_message(*memory_, shown_), "94");
}

}  // namespace shared_test
}  // namespace trainscope
