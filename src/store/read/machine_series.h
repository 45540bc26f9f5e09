// A run together with what other ranks of its job recorded on the same machine: metrics of that
// machine, or the CPU time of these ranks.
//
// Guarantees: the added series have the times of this run; where another run has no values there
// are none. Limits: CPU time of the machine is left out, but for what the hypervisor took: it
// cannot be told from that of the other ranks. Of the GPUs only those are added in which the rank
// has memory. Where the driver does not report whose memory it is, it is by the usual order: the
// n-th GPU that a rank may use is that of the n-th rank on its machine. A rank that recorded a GPU
// itself has no other.
#pragma once

#include <memory>
#include <vector>

#include "model/model.h"

namespace trainscope {

std::unique_ptr<RunView> add_machine_series(std::unique_ptr<RunView> run,
                                            std::unique_ptr<RunView> machine);

// Adds the CPU time of other ranks, and of Trainscope's processes for them, as kRanksCpuTime
// (model/metric.h): it is not that of neighbours.
std::unique_ptr<RunView> add_rank_series(std::unique_ptr<RunView> run,
                                         std::vector<std::unique_ptr<RunView>> others);

}  // namespace trainscope
