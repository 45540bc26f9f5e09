// A hostile segment and tail: everything that is read of a run, from bytes that anybody may have
// written. The first byte says how many of the others are the tail's. Each is tried as it is (so
// that a checksum must be found) and as the payload of one frame (so that the parsers after the
// checksum are reached).
#include <algorithm>
#include <cstdint>
#include <string>

#include "format/format.h"
#include "store/read/files.h"
#include "store/read/rebuild.h"

namespace trainscope {
namespace {

constexpr const char* kSchema =
    R"({"schema":1,"stream":0,"period_ns":1000000,"source":"s","columns":[)"
    R"({"metric":"a","labels":{"cpu":"0"},"unit":"s","kind":"counter","scale":[1,100],"type":"i64"},)"
    R"({"metric":"b","labels":{},"unit":"1","kind":"gauge","scale":[3,1],"type":"i64"},)"
    R"({"metric":"c","labels":{},"unit":"1","kind":"gauge","scale":[1,1],"type":"f64"}],"missing":[]})";

void read_everything(const std::string& segment, const std::string& tail, bool ended) {
  RunFiles files;
  files.manifest.id = "0123456789";
  files.manifest.period_ns = 1'000'000;
  if (ended) files.manifest.duration_s = 0.5;
  files.segments.push_back({"samples-0001.seg", segment});
  if (!tail.empty()) files.tail = {"tail", tail};
  (void)rebuild_manifest(files, Error("ruined"));
  const auto run = view_run(std::move(files));
  if (!run) return;
  for (size_t i = 0; i < (*run)->series().size(); ++i) {
    (void)(*run)->points(i, {});
    (void)(*run)->points(i, {0.001, 0.01});
    (void)(*run)->summary(i);
  }
  (void)(*run)->overhead();
}

// Frames of the types that a payload's first byte names, with right checksums.
std::string framed(std::string_view data) {
  std::string file = file_header();
  append_frame(file, FrameType::schema, 0, kSchema);
  while (data.size() >= 3) {
    const auto type = static_cast<FrameType>(static_cast<uint8_t>(data[0]) % 11);
    const auto flags = static_cast<uint8_t>(data[1] & 3);
    const size_t length = std::min<size_t>(static_cast<uint8_t>(data[2]), data.size() - 3);
    append_frame(file, type, flags, data.substr(3, length));
    data.remove_prefix(3 + length);
  }
  return file;
}

void decode_all(std::string_view data) {
  (void)decode_times(data);
  const Totals totals[] = {Totals::increases, Totals::sum, Totals::none};
  for (uint8_t flags = 0; flags < 4; ++flags) {
    const auto header = decode_columns_header(data, flags, totals);
    if (!header) continue;
    const auto plain = plain_body(*header, flags, 3);
    if (!plain) continue;
    const auto offsets = column_offsets(*plain, header->rows, 3);
    if (!offsets) continue;
    std::vector<int64_t> one(header->rows);
    for (size_t c = 0; c < 3; ++c) {
      const bool decoded = static_cast<bool>(decode_column(*plain, (*offsets)[c], one));
      CHECK(decoded);  // column_offsets promises it
    }
  }
}

}  // namespace
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainscope;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  decode_all(all);
  (void)scan_frames(all);
  if (size < 1) return 0;
  const std::string_view rest = all.substr(1);
  const size_t tail = rest.size() * data[0] / 256;
  const std::string_view front = rest.substr(0, rest.size() - tail),
                         back = rest.substr(front.size());
  read_everything(framed(front), tail == 0 ? "" : framed(back), (data[0] & 1) != 0);
  read_everything(std::string(front), std::string(back), (data[0] & 1) != 0);
  return 0;
}
