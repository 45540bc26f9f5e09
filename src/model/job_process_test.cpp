#include "model/job_process.h"

#include <gtest/gtest.h>

namespace trainscope {

namespace job_process_test {

std::vector<Event> stated(const std::string& text) {
  return {{0.1, std::string(kJobProcessEvent), text}};
}

TEST(JobProcess, is_found_again_by_its_event) {
  const JobProcess process = {4711, 8123456, 4026531836};
  EXPECT_EQ(job_process_text(process), "pid 4711, start 8123456, PID namespace 4026531836");
  EXPECT_EQ(find_job_process(stated(job_process_text(process))), process);
}

TEST(JobProcess, of_the_command_after_the_job_is_the_last_one) {
  std::vector<Event> events = stated("pid 5, start 6, PID namespace 7");
  events.push_back({1, "job", "pid 1, start 1, PID namespace 1"});
  events.push_back({2, std::string(kJobProcessEvent), "pid 8, start 9, PID namespace 7"});
  events.push_back({3, "mark", "end"});
  EXPECT_EQ(find_job_process(events), (JobProcess{8, 9, 7}));
}

TEST(JobProcess, is_unknown_if_its_text_is_another) {
  EXPECT_FALSE(find_job_process({}));
  for (const char* text :
       {"", "pid 5", "pid 5, start 6, PID namespace", "pid 0, start 6, PID namespace 7",
        "pid -5, start 6, PID namespace 7", "pid 5, start x, PID namespace 7",
        "pid 99999999999, start 6, PID namespace 7", "pid 5, start 6, PID namespace 7, more"}) {
    EXPECT_FALSE(find_job_process(stated(text))) << text;
  }
}

}  // namespace job_process_test

}  // namespace trainscope
