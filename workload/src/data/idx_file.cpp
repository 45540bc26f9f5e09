#include "data/idx_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace trainscope::workload {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

struct GzClose {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using GzHandle = std::unique_ptr<gzFile_s, GzClose>;

// One open file with its position, so that every error can say where it happened.
class IdxStream {
 public:
  IdxStream(GzHandle handle, std::string name)
      : handle_(std::move(handle)), name_(std::move(name)) {}

  Error fault_at(std::uint64_t offset, const std::string& what) const {
    return Error(name_ + ": offset " + std::to_string(offset) + ": " + what);
  }
  Error fault(const std::string& what) const { return fault_at(offset_, what); }

  // Fills all of `wanted` bytes or fails; zlib passes plain files through unchanged.
  Status read(std::uint8_t* into, std::size_t wanted) {
    const int got = gzread(handle_.get(), into, static_cast<unsigned>(wanted));
    if (got > 0) offset_ += static_cast<std::uint64_t>(got);
    if (got >= 0 && static_cast<std::size_t>(got) == wanted) return {};
    return fault(damage().empty() ? "the file ends too early" : damage());
  }

  // Nothing may follow the last element; reading on also makes zlib check the gzip trailer.
  Status expect_end() {
    std::uint8_t extra = 0;
    const int got = gzread(handle_.get(), &extra, 1);
    if (got == 0 && damage().empty()) return {};
    return fault(got > 0 ? "more bytes than the dimensions require" : damage());
  }

 private:
  // zlib's own words for what is wrong, empty where nothing is.
  std::string damage() const {
    int code = Z_OK;
    const char* text = gzerror(handle_.get(), &code);
    if (code == Z_OK || code == Z_STREAM_END) return "";
    if (code == Z_ERRNO) return std::strerror(errno);
    if (code == Z_BUF_ERROR) return "the gzip data end too early";
    // zlib puts the file's name before it; our message has it already.
    const std::string_view words = text;
    const std::size_t colon = words.rfind(": ");
    return "damaged gzip data: " +
           std::string(colon == words.npos ? words : words.substr(colon + 2));
  }

  GzHandle handle_;
  std::string name_;
  std::uint64_t offset_ = 0;
};

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

Status read_magic(IdxStream& stream, std::size_t rank) {
  std::array<std::uint8_t, 4> magic{};
  TS_CHECK_OK(stream.read(magic.data(), magic.size()));
  if (magic[0] != 0 || magic[1] != 0) return stream.fault_at(0, "not an IDX file (no zero bytes)");
  if (magic[2] != kUnsignedByte) {
    return stream.fault_at(2, "element type " + std::to_string(magic[2]) + ", expected 8 (bytes)");
  }
  if (magic[3] != rank) {
    return stream.fault_at(
        3, std::to_string(magic[3]) + " dimensions, expected " + std::to_string(rank));
  }
  return {};
}

Result<std::uint64_t> read_dimensions(IdxStream& stream, std::vector<std::uint32_t>& dimensions) {
  std::uint64_t total = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    std::array<std::uint8_t, 4> bytes{};
    TS_CHECK_OK(stream.read(bytes.data(), bytes.size()));
    dimensions[i] = big_endian(bytes.data());
    total *= dimensions[i];
    if (total == 0 || total > kMaxBytes) {
      return stream.fault_at(4 + 4 * i, "dimension of " + std::to_string(dimensions[i]) +
                                            " makes the file empty or larger than 1 GiB");
    }
  }
  return total;
}

Status read_elements(IdxStream& stream, std::uint64_t total, std::vector<std::uint8_t>& bytes) {
  while (bytes.size() < total) {
    const std::size_t had = bytes.size();
    const std::size_t chunk = std::min<std::size_t>(kChunkBytes, total - had);
    bytes.resize(had + chunk);
    TS_CHECK_OK(stream.read(bytes.data() + had, chunk));
  }
  return stream.expect_end();
}

}  // namespace

Result<IdxArray> read_idx(const std::filesystem::path& file, std::size_t rank) {
  errno = 0;
  GzHandle handle(gzopen(file.c_str(), "rbe"));
  if (!handle) {
    const char* reason = errno != 0 ? std::strerror(errno) : "out of memory";
    return Error(file.string() + ": cannot open: " + reason);
  }
  IdxStream stream(std::move(handle), file.string());
  TS_CHECK_OK(read_magic(stream, rank));

  IdxArray array;
  array.dimensions.resize(rank);
  TS_TRY(const std::uint64_t total, read_dimensions(stream, array.dimensions));
  TS_CHECK_OK(read_elements(stream, total, array.bytes));
  return array;
}

}  // namespace trainscope::workload
