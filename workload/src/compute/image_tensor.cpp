#include "compute/image_tensor.h"

namespace trainscope::workload {
namespace {

torch::Tensor per_channel(const std::array<float, 3>& values, std::uint32_t channels) {
  const torch::Tensor all = torch::tensor({values[0], values[1], values[2]});
  // Data of another number of channels than three share the first value.
  const torch::Tensor fitting = channels == 3 ? all : all.slice(0, 0, 1).repeat({channels});
  return fitting.reshape({1, -1, 1, 1});
}

}  // namespace

ImageTensors::ImageTensors(const ImageShape& shape, const Normalisation& normalisation,
                           const torch::Device& device, bool channels_last)
    : shape_(shape),
      device_(device),
      channels_last_(channels_last),
      mean_(per_channel(normalisation.mean, shape.channels).to(device)),
      inverse_(per_channel(normalisation.deviation, shape.channels).reciprocal().to(device)) {}

// from_blob wants mutable pointers; the conversions make new tensors and nothing writes through it.
torch::Tensor ImageTensors::images(const Batch& batch) const {
  const torch::Tensor bytes = torch::from_blob(
      const_cast<std::uint8_t*>(batch.pixels.data()),
      {static_cast<std::int64_t>(batch.count()), shape_.channels, shape_.rows, shape_.columns},
      torch::kByte);
  torch::Tensor floats = bytes.to(device_).to(torch::kFloat).sub_(mean_).mul_(inverse_);
  return channels_last_ ? floats.contiguous(torch::MemoryFormat::ChannelsLast) : floats;
}

torch::Tensor ImageTensors::labels(const Batch& batch) const {
  return torch::from_blob(const_cast<std::int64_t*>(batch.labels.data()),
                          {static_cast<std::int64_t>(batch.count())}, torch::kLong)
      .clone()
      .to(device_);
}

}  // namespace trainscope::workload
