#include "data/tfrecord.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace trainscope::workload {
namespace {

constexpr std::size_t kHeaderBytes = 12;  // length, its CRC
constexpr std::size_t kTrailerBytes = 4;  // CRC of the bytes
constexpr std::uint64_t kMaxRecord = std::uint64_t{256} << 20;
constexpr std::size_t kSlices = 8;

using CrcTables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// Slicing by eight: table k holds a byte's effect when k more bytes follow it.
constexpr CrcTables make_tables() {
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr CrcTables kTables = make_tables();

std::uint32_t little_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}

std::uint32_t crc32c(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = ~0U;
  while (bytes.size() >= kSlices) {
    const std::uint32_t low = little_endian(bytes.data()) ^ crc;
    const std::uint32_t high = little_endian(bytes.data() + 4);
    crc = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      crc ^= kTables[7 - k][low >> (8 * k) & 0xFF] ^ kTables[3 - k][high >> (8 * k) & 0xFF];
    }
    bytes = bytes.subspan(kSlices);
  }
  for (const std::uint8_t byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xFF];
  return ~crc;
}

}  // namespace

std::uint32_t masked_crc32c(std::span<const std::uint8_t> bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

TfrecordFile::TfrecordFile(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

TfrecordFile::~TfrecordFile() { close(descriptor_); }

Result<std::shared_ptr<const TfrecordFile>> TfrecordFile::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error(file.string() + ": cannot open: " + std::strerror(errno));
  }
  std::shared_ptr<TfrecordFile> opened(new TfrecordFile(file, descriptor));
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return opened->fault(0, std::strerror(errno));
  opened->size_ = static_cast<std::uint64_t>(status.st_size);
  TS_CHECK_OK(opened->index());
  return std::shared_ptr<const TfrecordFile>(std::move(opened));
}

Error TfrecordFile::fault(std::uint64_t offset, const std::string& what) const {
  return Error(path_.string() + ": offset " + std::to_string(offset) + ": " + what);
}

Status TfrecordFile::fill(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  std::size_t had = 0;
  while (had < bytes.size()) {
    const ssize_t got = pread(descriptor_, bytes.data() + had, bytes.size() - had,
                              static_cast<off_t>(offset + had));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fault(offset, std::strerror(errno));
    if (got == 0) return fault(offset, "the file ends inside a record");
    had += static_cast<std::size_t>(got);
  }
  return {};
}

Result<std::uint64_t> TfrecordFile::length_at(std::uint64_t offset) const {
  std::array<std::uint8_t, kHeaderBytes> header{};
  TS_CHECK_OK(fill(offset, header));
  const std::uint64_t length =
      little_endian(header.data()) | std::uint64_t{little_endian(header.data() + 4)} << 32;
  if (masked_crc32c(std::span(header).first(8)) != little_endian(header.data() + 8)) {
    return fault(offset, "not a TFRecord (the CRC of the length is wrong)");
  }
  if (length > kMaxRecord) return fault(offset, "a record of more than 256 MiB");
  return length;
}

Status TfrecordFile::index() {
  std::uint64_t offset = 0;
  while (offset < size_) {
    TS_TRY(const std::uint64_t length, length_at(offset));
    const std::uint64_t next = offset + kHeaderBytes + length + kTrailerBytes;
    if (next > size_) return fault(offset, "the file ends inside a record");
    offsets_.push_back(offset);
    offset = next;
  }
  return {};
}

Result<std::vector<std::uint8_t>> TfrecordFile::read(std::size_t index) const {
  const std::uint64_t offset = offsets_[index];
  TS_TRY(const std::uint64_t length, length_at(offset));
  std::vector<std::uint8_t> bytes(length + kTrailerBytes);
  TS_CHECK_OK(fill(offset + kHeaderBytes, bytes));
  const std::uint32_t expected = little_endian(bytes.data() + length);
  bytes.resize(length);
  if (masked_crc32c(bytes) != expected) return fault(offset, "damaged record (wrong CRC)");
  return bytes;
}

}  // namespace trainscope::workload
