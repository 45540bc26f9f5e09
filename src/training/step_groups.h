// Steps that were read together, printed ones or lines of the pipe without a time of their own:
// what the job writes is buffered, or steps follow each other faster than they can be read. They
// have the same time, and none has one of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/training.h"

namespace trainscope {

// Behind the last step that has the time of this one.
size_t end_of_group(const std::vector<Step>& steps, size_t begin);

// How many steps have neither a time of their own nor a duration that the job told.
size_t count_untimed(const std::vector<Step>& steps);

// Why the times of single steps are not known, when so many came together that the others say
// little: more than a quarter. Empty: they are known well enough. (Buffered output makes it nearly
// all; a reader that a busy machine holds up now and then, a few.) `source`: pipe or output.
std::string why_times_are_unknown(const std::vector<Step>& steps, std::string_view source);

// Do the averages of groups mean anything? Lines that were all printed near the end of the run
// were not printed when their steps were done.
bool are_averages_known(const std::vector<Step>& steps);

}  // namespace trainscope
