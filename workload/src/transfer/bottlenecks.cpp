#include "transfer/bottlenecks.h"

#include <algorithm>

#include "compute/image_tensor.h"
#include "data/image.h"
#include "data/whole_file.h"
#include "transfer/bottleneck_cache.h"

namespace trainscope::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kImagesAtOnce = 16;

class BottleneckMaker {
 public:
  BottleneckMaker(const TransferOptions& options, const TrainedNetwork& trained,
                  const ImageList& list, const torch::Device& device)
      : options_(options),
        trained_(trained),
        list_(list),
        tensors_(trained.shape, trained.model->normalisation, device, false) {}

  Result<Bottlenecks> run() {
    // The features of one image of zeros are as long as every vector.
    Batch blank;
    blank.pixels.resize(trained_.shape.bytes());
    blank.labels.push_back(0);
    length_ = trained_.network->features(tensors_.images(blank)).size(1);
    const auto count = static_cast<std::int64_t>(list_.images.size());
    result_.vectors = torch::empty({count, length_});
    for (std::size_t i = 0; i < list_.images.size(); ++i) {
      TS_CHECK_OK(take(i));
      if (waiting_.size() < kImagesAtOnce) continue;
      TS_CHECK_OK(compute());
    }
    TS_CHECK_OK(compute());
    return std::move(result_);
  }

 private:
  struct Waiting {
    std::size_t index;
    BottleneckKey key;
  };

  fs::path file_of(std::size_t index) const {
    return fs::path(options_.cache) / std::string(trained_.model->name) /
           (list_.images[index].name + ".bottleneck");
  }

  float* row(std::size_t index) {
    return result_.vectors.data_ptr<float>() + static_cast<std::int64_t>(index) * length_;
  }

  // From the cache, or into the batch that is computed next.
  Status take(std::size_t index) {
    const fs::path file = fs::path(options_.folder) / list_.images[index].name;
    TS_TRY(const std::vector<std::uint8_t> bytes, read_whole_file(file));
    const BottleneckKey key = bottleneck_key(trained_.crc, bytes);
    if (!options_.cache.empty()) {
      const auto known = read_bottleneck(file_of(index), key, static_cast<std::size_t>(length_));
      if (known) {
        std::ranges::copy(*known, row(index));
        ++result_.cached;
        return {};
      }
    }
    TS_TRY(const Image image, decode_image(bytes, file.string()));
    const std::size_t size = trained_.shape.bytes();
    batch_.pixels.resize(batch_.pixels.size() + size);
    batch_.labels.push_back(0);
    fit_image(image, {trained_.shape.channels, trained_.shape.rows, trained_.model->crop},
              std::span(batch_.pixels).last(size));
    waiting_.push_back({index, key});
    return {};
  }

  Status compute() {
    if (waiting_.empty()) return {};
    const torch::Tensor vectors =
        trained_.network->features(tensors_.images(batch_)).to(torch::kCPU).contiguous();
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const float* values =
          vectors.const_data_ptr<float>() + static_cast<std::int64_t>(i) * length_;
      const std::span<const float> vector(values, static_cast<std::size_t>(length_));
      std::ranges::copy(vector, row(waiting_[i].index));
      if (options_.cache.empty()) continue;
      TS_CHECK_OK(write_bottleneck(file_of(waiting_[i].index), waiting_[i].key, vector));
    }
    result_.computed += waiting_.size();
    waiting_.clear();
    batch_ = {};
    return {};
  }

  const TransferOptions& options_;
  const TrainedNetwork& trained_;
  const ImageList& list_;
  ImageTensors tensors_;
  std::int64_t length_ = 0;
  Batch batch_;
  std::vector<Waiting> waiting_;
  Bottlenecks result_;
};

}  // namespace

Result<Bottlenecks> make_bottlenecks(const TransferOptions& options, const TrainedNetwork& trained,
                                     const ImageList& list, const torch::Device& device) {
  const torch::NoGradGuard no_gradients;
  return BottleneckMaker(options, trained, list, device).run();
}

}  // namespace trainscope::workload
