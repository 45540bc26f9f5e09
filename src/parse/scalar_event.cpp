#include <event.pb.h>

#include <cstring>

#include "parse/tfrecord.h"

namespace trainscope {

namespace {

// TensorFlow's numbers of the types that a scalar may have.
constexpr int kFloat = 1, kDouble = 2, kInt32 = 3, kInt64 = 9;

template <typename Number>
std::optional<double> from_content(const std::string& content) {
  Number value{};
  if (content.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, content.data(), sizeof value);
  return static_cast<double>(value);
}

// Of a tensor with one element.
std::optional<double> scalar_of(const tfevents::Tensor& tensor) {
  if (tensor.tensor_shape().dim_size() != 0) return std::nullopt;
  switch (tensor.dtype()) {
    case kFloat:
      return tensor.float_val_size() == 1 ? std::optional<double>(tensor.float_val(0))
                                          : from_content<float>(tensor.tensor_content());
    case kDouble:
      return tensor.double_val_size() == 1 ? std::optional<double>(tensor.double_val(0))
                                           : from_content<double>(tensor.tensor_content());
    case kInt32:
      return tensor.int_val_size() == 1 ? std::optional<double>(tensor.int_val(0))
                                        : from_content<int32_t>(tensor.tensor_content());
    case kInt64:
      return tensor.int64_val_size() == 1 ? std::optional(static_cast<double>(tensor.int64_val(0)))
                                          : from_content<int64_t>(tensor.tensor_content());
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ScalarEvent> parse_scalar_event(std::string_view data) {
  tfevents::Event event;
  if (!event.ParseFromArray(data.data(), static_cast<int>(data.size()))) return std::nullopt;
  ScalarEvent out{event.wall_time(), event.step(), {}};
  for (const tfevents::Summary::Value& value : event.summary().value()) {
    std::optional<double> number;
    if (value.value_case() == tfevents::Summary::Value::kSimpleValue) {
      number = value.simple_value();
    } else if (value.has_tensor()) {
      number = scalar_of(value.tensor());
    }
    if (number) out.scalars.push_back({value.tag(), *number});
  }
  return out;
}

}  // namespace trainscope
