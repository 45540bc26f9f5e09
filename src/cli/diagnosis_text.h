// A diagnosis as text; of a run and of a group.
#pragma once

#include <string>

#include "model/finding.h"

namespace trainscope {

// The answer in one line, with how sure it is.
std::string answer_text(const Diagnosis& diagnosis);
// `own_lines`: what only a run, or only a group, has to say.
std::string diagnosis_text(const std::string& title, const Diagnosis& diagnosis,
                           const std::string& own_lines, bool explain);

}  // namespace trainscope
