#include "document/column_writer.h"

#include <bit>
#include <cstdint>

namespace trainscope {

namespace {

constexpr std::string_view kColumnsMagic = "TSC1";
constexpr size_t kColumnAlignment = sizeof(double);

template <typename Number>
void append_little_endian(std::string& out, Number number) {
  for (size_t i = 0; i < sizeof(number); ++i) {
    out += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
  }
}

}  // namespace

std::string write_columns(Json header, const std::vector<ChartColumn>& columns) {
  header["columns"] = Json::array();
  size_t numbers = 0;
  for (const ChartColumn& column : columns) {
    Json each = column.header;
    each["arrays"] = Json::array();
    for (const auto& [name, values] : column.arrays) {
      each["arrays"].push_back(name);
      numbers += values.size();
    }
    each["count"] = column.arrays.empty() ? 0 : column.arrays.front().second.size();
    header["columns"].push_back(std::move(each));
  }
  std::string text = dump_json(header);
  const size_t begin = kColumnsMagic.size() + sizeof(uint32_t);
  text.append((kColumnAlignment - (begin + text.size()) % kColumnAlignment) % kColumnAlignment,
              ' ');
  std::string out(kColumnsMagic);
  out.reserve(begin + text.size() + numbers * sizeof(double));
  append_little_endian(out, static_cast<uint32_t>(text.size()));
  out += text;
  for (const ChartColumn& column : columns) {
    for (const auto& [name, values] : column.arrays) {
      for (const double value : values) append_little_endian(out, std::bit_cast<uint64_t>(value));
    }
  }
  return out;
}

}  // namespace trainscope
