#include "cli/diagnosis_text.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "document/document.h"

namespace trainscope {
namespace diagnosis_text_test {

TEST(DiagnosisText, explains_also_what_was_found_without_a_rule_and_what_was_not) {
  Diagnosis diagnosis;
  diagnosis.verdict = "cpu_bound";
  Finding pauses;
  pauses.id = "pauses_input";
  pauses.severity = "info";
  diagnosis.findings = {pauses};
  const std::string text = diagnosis_text("run", diagnosis, "", true);
  EXPECT_NE(text.find("  pauses_*                found      "), std::string::npos) << text;
  EXPECT_NE(text.find("  memory_nearly_full      not found  "), std::string::npos) << text;
  EXPECT_EQ(diagnosis_text("run", diagnosis, "", false).find("not found"), std::string::npos);
  const auto others = diagnosis_json(diagnosis, true)["others"];
  EXPECT_EQ(others.at(0)["finding"], "pauses_*");
  EXPECT_TRUE(others.at(0)["found"].get<bool>());
  EXPECT_FALSE(others.at(1)["found"].get<bool>());
}

TEST(DiagnosisText, says_what_a_rule_needs_that_looked_at_nothing) {
  Diagnosis diagnosis;
  diagnosis.judged = {{"gpu", "gpu_bound", 0, {}}};
  const std::string text = diagnosis_text("run", diagnosis, "", true);
  EXPECT_NE(text.find("    does not apply here; needs hw.gpu.utilization\n"), std::string::npos);
  EXPECT_EQ(diagnosis_json(diagnosis, true)["explanation"].at(0)["needs"], "hw.gpu.utilization");
  diagnosis.judged[0].seen.resize(1);
  EXPECT_EQ(diagnosis_text("run", diagnosis, "", true).find("needs"), std::string::npos);
}

}  // namespace diagnosis_text_test
}  // namespace trainscope
