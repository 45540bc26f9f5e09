#include "weights/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/whole_file.h"

namespace trainscope::workload {
namespace {

static_assert(std::endian::native == std::endian::little);

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // as the reference implementation
constexpr std::size_t kAlignment = 8;
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<std::string_view, std::size_t>, 12> kTypes{{{"F64", 8},
                                                                           {"F32", 4},
                                                                           {"F16", 2},
                                                                           {"BF16", 2},
                                                                           {"I64", 8},
                                                                           {"I32", 4},
                                                                           {"I16", 2},
                                                                           {"I8", 1},
                                                                           {"U8", 1},
                                                                           {"BOOL", 1},
                                                                           {"U32", 4},
                                                                           {"U64", 8}}};

// Number of bytes that type and shape ask for; false where it cannot be.
bool size_of(const std::string& type, const std::vector<std::int64_t>& shape, std::uint64_t& size) {
  size = element_bytes(type);
  for (const std::int64_t length : shape) {
    if (length < 0 || __builtin_mul_overflow(size, static_cast<std::uint64_t>(length), &size)) {
      return false;
    }
  }
  return element_bytes(type) != 0;
}

struct Entry {
  TensorView view;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Throws nlohmann's exceptions where a field is missing or of another type.
Entry read_entry(const std::string& name, const json& value) {
  Entry entry;
  entry.view.name = name;
  entry.view.type = value.at("dtype").get<std::string>();
  entry.view.shape = value.at("shape").get<std::vector<std::int64_t>>();
  const auto offsets = value.at("data_offsets").get<std::array<std::uint64_t, 2>>();
  entry.begin = offsets[0];
  entry.end = offsets[1];
  return entry;
}

// What is wrong, or empty.
std::string place_tensors(std::vector<Entry> entries, std::span<const std::uint8_t> data,
                          std::vector<TensorView>& tensors) {
  std::ranges::sort(entries, {},
                    [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t at = 0;
  for (Entry& entry : entries) {
    std::uint64_t size = 0;
    if (!size_of(entry.view.type, entry.view.shape, size)) {
      return "tensor " + entry.view.name + ": unknown type " + entry.view.type + " or bad shape";
    }
    if (entry.begin != at || entry.end < entry.begin || entry.end - entry.begin != size ||
        entry.end > data.size()) {
      return "tensor " + entry.view.name + ": its offsets do not match type and shape";
    }
    at = entry.end;
    entry.view.bytes = data.subspan(entry.begin, size);
    tensors.push_back(std::move(entry.view));
  }
  return at == data.size() ? "" : "bytes outside all tensors";
}

std::string parse(std::span<const std::uint8_t> text, std::span<const std::uint8_t> data,
                  TensorFile& file) {
  std::vector<Entry> entries;
  try {
    const json header = json::parse(text.begin(), text.end());
    if (!header.is_object()) return "the header is not a JSON object";
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata) {
        file.metadata = value.get<std::map<std::string, std::string>>();
      } else {
        entries.push_back(read_entry(name, value));
      }
    }
  } catch (const json::exception& error) {
    return std::string("bad header: ") + error.what();
  }
  return place_tensors(std::move(entries), data, file.tensors);
}

}  // namespace

std::size_t element_bytes(std::string_view type) {
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return 0;
}

const TensorView* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &TensorView::name);
  return found == tensors.end() ? nullptr : &*found;
}

Result<TensorFile> read_safetensors(const std::filesystem::path& path) {
  TensorFile file;
  TS_TRY(file.storage, read_whole_file(path));
  std::uint64_t length = 0;
  const bool complete = file.storage.size() >= kLengthBytes;
  if (complete) std::memcpy(&length, file.storage.data(), kLengthBytes);
  if (!complete || length > kMaxHeader || length > file.storage.size() - kLengthBytes) {
    return Error(path.string() + ": not a safetensors file, or cut off");
  }
  const std::span<const std::uint8_t> rest = std::span(file.storage).subspan(kLengthBytes);
  const std::string wrong = parse(rest.first(length), rest.subspan(length), file);
  if (!wrong.empty()) return Error(path.string() + ": " + wrong);
  return file;
}

Status write_safetensors(const std::filesystem::path& path, const TensorFile& content) {
  ordered_json header = ordered_json::object();
  if (!content.metadata.empty()) header[std::string(kMetadata)] = content.metadata;
  std::uint64_t at = 0;
  for (const TensorView& tensor : content.tensors) {
    header[tensor.name] = {{"dtype", tensor.type},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string text = header.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  while (text.size() % kAlignment != 0) text += ' ';
  const std::uint64_t length = text.size();
  std::array<std::uint8_t, kLengthBytes> prefix{};
  std::memcpy(prefix.data(), &length, kLengthBytes);
  std::vector<std::span<const std::uint8_t>> pieces{
      prefix, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}};
  for (const TensorView& tensor : content.tensors) pieces.push_back(tensor.bytes);
  return write_whole_file(path, pieces);
}

}  // namespace trainscope::workload
