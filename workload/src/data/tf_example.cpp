#include "data/tf_example.h"

#include <optional>

namespace trainscope::workload {
namespace {

using Bytes = std::span<const std::uint8_t>;

enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a varint
  Bytes bytes;              // of a byte string, or of packed numbers
};

// Walks over the fields of one protobuf message; `broken` once something does not fit.
class FieldReader {
 public:
  explicit FieldReader(Bytes message) : rest_(message) {}

  bool broken() const { return broken_; }

  std::optional<Field> next() {
    if (broken_ || rest_.empty()) return std::nullopt;
    Field field;
    const std::uint64_t tag = varint();
    field.number = tag >> 3;
    switch (static_cast<Wire>(tag & 7)) {
      case Wire::kVarint:
        field.value = varint();
        break;
      case Wire::kFixed64:
        field.bytes = take(8);
        break;
      case Wire::kFixed32:
        field.bytes = take(4);
        break;
      case Wire::kBytes:
        field.bytes = take(varint());
        break;
      default:
        broken_ = true;
    }
    if (broken_) return std::nullopt;
    return field;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const std::uint8_t byte = rest_[0];
      rest_ = rest_.subspan(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }

 private:
  Bytes take(std::uint64_t count) {
    if (count > rest_.size()) {
      broken_ = true;
      return {};
    }
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  Bytes rest_;
  bool broken_ = false;
};

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Feature { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; }, where
// each list is { repeated value = 1; }.
bool read_feature(std::string_view name, Bytes message, TfExample& example) {
  FieldReader feature(message);
  while (const std::optional<Field> list = feature.next()) {
    FieldReader values(list->bytes);
    const std::optional<Field> first = values.next();
    if (values.broken()) return false;
    if (!first || first->number != 1) continue;
    if (list->number == 1) example.bytes.emplace(name, first->bytes);
    if (list->number != 3) continue;
    // One number stands plain or, as is usual, packed.
    FieldReader packed(first->bytes);
    const std::uint64_t number = first->bytes.empty() ? first->value : packed.varint();
    if (packed.broken()) return false;
    example.numbers.emplace(name, static_cast<std::int64_t>(number));
  }
  return !feature.broken();
}

// map<string, Feature>: an entry is { key = 1; value = 2; }.
bool read_entry(Bytes message, TfExample& example) {
  FieldReader entry(message);
  std::string_view name;
  Bytes value;
  while (const std::optional<Field> field = entry.next()) {
    if (field->number == 1) name = text_of(field->bytes);
    if (field->number == 2) value = field->bytes;
  }
  return !entry.broken() && read_feature(name, value, example);
}

}  // namespace

Result<TfExample> parse_tf_example(Bytes message) {
  const Error damaged("not a tf.train.Example");
  TfExample example;
  FieldReader outer(message);
  while (const std::optional<Field> features = outer.next()) {
    if (features->number != 1) continue;
    FieldReader entries(features->bytes);
    while (const std::optional<Field> entry = entries.next()) {
      if (entry->number == 1 && !read_entry(entry->bytes, example)) return damaged;
    }
    if (entries.broken()) return damaged;
  }
  if (outer.broken()) return damaged;
  return example;
}

}  // namespace trainscope::workload
