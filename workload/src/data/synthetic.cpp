#include "data/synthetic.h"

#include "data/random_stream.h"

namespace trainscope::workload {
namespace {

constexpr std::size_t kTrainCount = 12800;
constexpr std::size_t kTestCount = 256;
constexpr std::size_t kPool = 64;  // different images; more would only fill memory

class SyntheticSamples : public Samples {
 public:
  SyntheticSamples(const DataRequest& request, std::size_t count, std::uint64_t stream)
      : count_(count),
        shape_{request.channels, request.side, request.side},
        classes_(request.classes),
        seed_(request.seed * 2 + stream),
        pool_(kPool * shape_.bytes()) {
    RandomStream random(seed_, 0);
    for (std::uint8_t& pixel : pool_) pixel = static_cast<std::uint8_t>(random.next() >> 56);
  }

  std::size_t count() const override { return count_; }
  ImageShape shape() const override { return shape_; }
  bool worth_threads() const override { return false; }
  Result<std::uint32_t> read(std::size_t index, std::span<std::uint8_t> pixels,
                             StageTimes& /*nothing is read*/) const override {
    const std::size_t bytes = shape_.bytes();
    std::copy_n(pool_.data() + (index % kPool) * bytes, bytes, pixels.data());
    return static_cast<std::uint32_t>(RandomStream(seed_, index).below(classes_));
  }

 private:
  std::size_t count_;
  ImageShape shape_;
  std::uint32_t classes_;
  std::uint64_t seed_;
  std::vector<std::uint8_t> pool_;
};

}  // namespace

Dataset make_synthetic(const DataRequest& request) {
  Dataset data;
  data.name = "synthetic";
  data.origin = "noise in memory";
  data.classes = request.classes;
  data.train = std::make_shared<SyntheticSamples>(request, kTrainCount, 0);
  data.test = std::make_shared<SyntheticSamples>(request, kTestCount, 1);
  return data;
}

}  // namespace trainscope::workload
