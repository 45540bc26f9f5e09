// A run together with the metrics of its machine, which another rank on that machine recorded.
//
// Guarantees: the series of the machine have the times of this run; where the other run has no
// values there are none. Limits: CPU time of the machine is left out, but for what the hypervisor
// took: it cannot be told from that of the other ranks. Of the GPUs only the rank's own is added,
// by the usual order: the n-th that a rank may use is that of the n-th rank on its machine. Where
// each rank sees a single GPU under the same number, that is the GPU of the rank that recorded it.
#pragma once

#include <memory>

#include "model/model.h"

namespace trainscope {

std::unique_ptr<RunView> add_machine_series(std::unique_ptr<RunView> run,
                                            std::unique_ptr<RunView> machine);

}  // namespace trainscope
