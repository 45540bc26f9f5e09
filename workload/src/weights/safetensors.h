// Weights in the safetensors format: eight bytes of length, a JSON header, the numbers.
//
// Guarantees: a file that is cut off, or whose header does not describe its bytes exactly (holes,
// overlaps, sizes that do not follow from type and shape), is an error that names the file. What is
// written is read back bit for bit, by this and by other readers; tensors are in the order given.
// Limits: at most 4 GiB, in memory; little-endian machines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainscope::workload {

struct TensorView {
  std::string name;
  std::string type;  // F32, F16, BF16, I64, U8, …
  std::vector<std::int64_t> shape;
  std::span<const std::uint8_t> bytes;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<TensorView> tensors;
  std::vector<std::uint8_t> storage;  // what the views point into, where they were read

  const TensorView* find(std::string_view name) const;
};

// Bytes of one element, 0 where the type is unknown.
std::size_t element_bytes(std::string_view type);

Result<TensorFile> read_safetensors(const std::filesystem::path& file);
Status write_safetensors(const std::filesystem::path& file, const TensorFile& content);

}  // namespace trainscope::workload
