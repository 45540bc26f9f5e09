// Chooses where to compute: the CPU, or a CUDA device where libtorch has its CUDA half.
//
// The program is linked with the CPU half alone, so that one binary runs with and without a GPU;
// the CUDA half is loaded here. This must be the process's first use of CUDA: libtorch looks
// for its CUDA hooks once.
#pragma once

#include <c10/core/Device.h>

#include "base/result.h"
#include "options.h"

namespace trainscope::workload {

// Falls back to the CPU with a message on stderr; fails instead if `strict`.
Result<c10::Device> choose_device(const DeviceChoice& choice, bool strict);

}  // namespace trainscope::workload
