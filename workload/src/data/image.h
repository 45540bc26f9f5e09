// JPEG and PNG images: decoded, cropped to a square and scaled to what a model wants.
//
// Guarantees: any bytes may be given; what is not an image, or a damaged one, is an error that
// names it. Never more memory than an image of 64 million pixels needs. Limits: 8 bits per channel;
// transparency is dropped; no EXIF rotation, no CMYK.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainscope::workload {

// Three channels, interleaved (red, green, blue, red, …), row after row.
struct Image {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint8_t> pixels;
};

Result<Image> decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

// How an encoded image is brought to a model.
struct EncodedShape {
  std::uint32_t channels = 3;  // 1: brightness
  std::uint32_t side = 224;
  double crop = 1.0;  // the part of the shorter side that is kept, around the middle
};

// The middle square, scaled (every source pixel counts), planar, into channels * side * side bytes.
void fit_image(const Image& image, const EncodedShape& shape, std::span<std::uint8_t> pixels);

}  // namespace trainscope::workload
