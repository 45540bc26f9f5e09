#include "analyze/support/advice.h"

#include <gtest/gtest.h>

#include <set>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace advice_test {

std::string advice_of(PlantedRun& run) {
  const Diagnosis diagnosis = run.cpu(0.3, 0.3).steps(0.7).diagnose();
  EXPECT_FALSE(diagnosis.findings.empty());
  return diagnosis.findings.at(0).advice;
}

TEST(Advice, is_for_the_framework_at_hand) {
  PlantedRun torch, keras, jax, both, launched, unknown;
  torch.mark("instrumented torch 2.11: input forward backward");
  keras.mark("instrumented keras 3.9: steps; tensorflow 2.19: input");
  jax.mark("instrumented jax 0.7: compile");
  both.mark("instrumented keras 3.9: steps; torch 2.11: input");
  launched.command({"/usr/bin/torchrun", "train.py"});
  EXPECT_NE(advice_of(torch).find("DataLoader("), std::string::npos);
  EXPECT_NE(advice_of(launched).find("DataLoader("), std::string::npos);
  EXPECT_NE(advice_of(keras).find("tf.data.AUTOTUNE"), std::string::npos);
  EXPECT_EQ(advice_of(keras).find("num_workers"), std::string::npos);
  EXPECT_NE(advice_of(jax).find("Grain"), std::string::npos);
  EXPECT_EQ(advice_of(both), advice_of(unknown)) << "which one trains is not known";
}

TEST(Advice, is_for_the_framework_that_an_unmodified_job_has_loaded) {
  PlantedRun torch, jax, both, unknown;
  torch.event("framework", "torch");
  jax.event("framework", "jax");
  both.event("framework", "jax, tensorflow");
  EXPECT_NE(advice_of(torch).find("DataLoader("), std::string::npos);
  EXPECT_NE(advice_of(jax).find("Grain"), std::string::npos);
  EXPECT_EQ(advice_of(both), advice_of(unknown)) << "which one trains is not known";
}

TEST(Advice, is_a_sentence_for_each) {
  for (size_t i = 0; i < static_cast<size_t>(Advice::count); ++i) {
    for (const Framework framework :
         {Framework::unknown, Framework::pytorch, Framework::tensorflow, Framework::jax}) {
      EXPECT_GT(advice_text(static_cast<Advice>(i), framework).size(), 10U) << i;
    }
  }
}

}  // namespace advice_test
}  // namespace trainscope
