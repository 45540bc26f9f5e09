// The optimizers, and their state as named tensors.
#pragma once

#include <torch/optim/optimizer.h>

#include <memory>

#include "arguments.h"
#include "network.h"
#include "weights.h"

namespace trainscope::workload {

// Adam as it is, or SGD with momentum 0.9.
std::unique_ptr<torch::optim::Optimizer> make_optimizer(OptimizerKind kind, double learning_rate,
                                                        const Network& network);

// Under state.optimizer.*; before the first step there is none.
void add_optimizer_state(const torch::optim::Optimizer& optimizer, OptimizerKind kind,
                         const Network& network, TensorBundle& bundle);

// What add_optimizer_state wrote. Fails where the file is of another optimizer.
Status load_optimizer_state(torch::optim::Optimizer& optimizer, OptimizerKind kind,
                            const Network& network, const TensorFile& content);

}  // namespace trainscope::workload
