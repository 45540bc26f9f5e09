// What the trunk of a network made of an image, stored on disk: one small binary file per image.
//
// Guarantees: a vector is given back only where the weights, the image's bytes and the length are
// those it was made of and its CRC is right; anything else counts as missing.
// Limits: files of this machine's byte order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace trainscope::workload {

struct BottleneckKey {
  std::uint32_t weights_crc = 0;
  std::uint32_t image_crc = 0;
  std::uint64_t image_bytes = 0;
};

BottleneckKey bottleneck_key(std::uint32_t weights_crc, std::span<const std::uint8_t> image);

std::optional<std::vector<float>> read_bottleneck(const std::filesystem::path& file,
                                                  const BottleneckKey& key, std::size_t length);

// Makes the folders that are missing.
Status write_bottleneck(const std::filesystem::path& file, const BottleneckKey& key,
                        std::span<const float> values);

}  // namespace trainscope::workload
