// Images with their class, one by one, wherever they are stored: in memory, in files, in records.
//
// Guarantees: any number of threads may read at once; reading the same index twice gives the same
// bytes; all images have one shape; every label is below the number of classes of its data set.
// Limits: one byte per channel and pixel, planar (all of red, all of green, all of blue).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainscope::workload {

struct ImageShape {
  std::uint32_t channels = 1;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;

  std::size_t bytes() const { return std::size_t{channels} * rows * columns; }
  bool operator==(const ImageShape&) const = default;
};

// Seconds spent in the stages of reading, added up by the readers.
struct StageTimes {
  double read_s = 0.0;
  double decode_s = 0.0;
};

class Samples {
 public:
  Samples() = default;
  virtual ~Samples() = default;
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;

  virtual std::size_t count() const = 0;
  virtual ImageShape shape() const = 0;
  // Whether a read takes long enough that threads should do it ahead of time.
  virtual bool worth_threads() const = 0;
  // Fills shape().bytes() and returns the label.
  virtual Result<std::uint32_t> read(std::size_t index, std::span<std::uint8_t> pixels,
                                     StageTimes& times) const = 0;
};

// Images of at most 256 classes, whole in memory.
struct ImageSet {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t channels = 1;
  std::vector<std::uint8_t> pixels;  // image after image, channel after channel, row after row
  std::vector<std::uint8_t> labels;

  std::size_t count() const { return labels.size(); }
};

class MemorySamples : public Samples {
 public:
  explicit MemorySamples(ImageSet set) : set_(std::move(set)) {}

  std::size_t count() const override { return set_.count(); }
  ImageShape shape() const override { return {set_.channels, set_.rows, set_.columns}; }
  bool worth_threads() const override { return false; }
  Result<std::uint32_t> read(std::size_t index, std::span<std::uint8_t> pixels,
                             StageTimes& /*too short to be worth a clock*/) const override {
    const std::size_t bytes = shape().bytes();
    std::copy_n(set_.pixels.data() + index * bytes, bytes, pixels.data());
    return std::uint32_t{set_.labels[index]};
  }

 private:
  ImageSet set_;
};

}  // namespace trainscope::workload
