#include "transfer/bottleneck_cache.h"

#include <zlib.h>

#include <array>
#include <cstring>
#include <system_error>

#include "data/whole_file.h"

namespace trainscope::workload {
namespace {

// The file: this, the floats, the CRC of both.
struct Header {
  std::array<char, 8> magic{'T', 'S', 'B', 'N', 'E', 'C', 'K', '1'};
  std::uint32_t weights_crc = 0;
  std::uint32_t image_crc = 0;
  std::uint64_t image_bytes = 0;
  std::uint64_t length = 0;

  bool operator==(const Header&) const = default;
};
static_assert(sizeof(Header) == 32);

Header header_of(const BottleneckKey& key, std::size_t length) {
  Header header;
  header.weights_crc = key.weights_crc;
  header.image_crc = key.image_crc;
  header.image_bytes = key.image_bytes;
  header.length = length;
  return header;
}

std::uint32_t crc_of(std::span<const std::uint8_t> bytes, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(crc32_z(before, bytes.data(), bytes.size()));
}

template <typename Value>
std::span<const std::uint8_t> bytes_of(const Value& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

}  // namespace

BottleneckKey bottleneck_key(std::uint32_t weights_crc, std::span<const std::uint8_t> image) {
  return {weights_crc, crc_of(image), image.size()};
}

std::optional<std::vector<float>> read_bottleneck(const std::filesystem::path& file,
                                                  const BottleneckKey& key, std::size_t length) {
  const Result<std::vector<std::uint8_t>> bytes = read_whole_file(file);
  const std::size_t data = length * sizeof(float);
  if (!bytes || bytes->size() != sizeof(Header) + data + sizeof(std::uint32_t)) {
    return std::nullopt;
  }
  const std::span<const std::uint8_t> all = *bytes;
  Header header;
  std::memcpy(&header, all.data(), sizeof header);
  std::uint32_t crc = 0;
  std::memcpy(&crc, all.data() + sizeof header + data, sizeof crc);
  if (header != header_of(key, length) || crc_of(all.first(sizeof header + data)) != crc) {
    return std::nullopt;
  }
  std::vector<float> values(length);
  std::memcpy(values.data(), all.data() + sizeof header, data);
  return values;
}

Status write_bottleneck(const std::filesystem::path& file, const BottleneckKey& key,
                        std::span<const float> values) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    return Error(file.parent_path().string() + ": " + error.message());
  }
  const Header header = header_of(key, values.size());
  const std::span<const std::uint8_t> data{reinterpret_cast<const std::uint8_t*>(values.data()),
                                           values.size_bytes()};
  const std::uint32_t crc = crc_of(data, crc_of(bytes_of(header)));
  const std::array<std::span<const std::uint8_t>, 3> pieces{bytes_of(header), data, bytes_of(crc)};
  return write_whole_file(file, pieces);
}

}  // namespace trainscope::workload
