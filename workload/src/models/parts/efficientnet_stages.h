// The stages that EfficientNet-B0 and its Lite variant share (Tan and Le 2019, table 1).
#pragma once

#include <array>
#include <cstdint>

namespace trainscope::workload {

struct EfficientnetStage {
  std::int64_t expand, kernel, stride, in, out, blocks;

  // What follows a block of this stage: the same size and width from then on.
  EfficientnetStage after_first() const { return {expand, kernel, 1, out, out, blocks}; }
};

constexpr std::array<EfficientnetStage, 7> kEfficientnetStages{{{1, 3, 1, 32, 16, 1},
                                                                {6, 3, 2, 16, 24, 2},
                                                                {6, 5, 2, 24, 40, 2},
                                                                {6, 3, 2, 40, 80, 3},
                                                                {6, 5, 1, 80, 112, 3},
                                                                {6, 5, 2, 112, 192, 4},
                                                                {6, 3, 1, 192, 320, 1}}};
constexpr std::int64_t kEfficientnetFirst = 32;   // channels of the stem
constexpr std::int64_t kEfficientnetLast = 1280;  // features

}  // namespace trainscope::workload
