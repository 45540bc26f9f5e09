#include "data/cifar_files.h"

#include <algorithm>
#include <system_error>

#include "data/whole_file.h"

namespace trainscope::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kCifarSide = 32;
constexpr std::uint32_t kCifarChannels = 3;
constexpr std::uint32_t kCifarClasses = 10;
constexpr std::size_t kImageBytes = std::size_t{kCifarSide} * kCifarSide * kCifarChannels;
constexpr std::size_t kRecordBytes = kImageBytes + 1;
constexpr int kMaxBatches = 5;

fs::path batch_file(const fs::path& folder, int number) {
  return folder / ("data_batch_" + std::to_string(number) + ".bin");
}

Status append_file(const fs::path& file, ImageSet& set) {
  TS_TRY(const std::vector<std::uint8_t> data, read_whole_file(file));
  if (data.empty() || data.size() % kRecordBytes != 0) {
    return Error(file.string() + ": " + std::to_string(data.size()) +
                 " bytes are not a multiple of a CIFAR-10 record (3073)");
  }
  for (std::size_t at = 0; at < data.size(); at += kRecordBytes) {
    if (data[at] >= kCifarClasses) {
      return Error(file.string() + ": record " + std::to_string(at / kRecordBytes) + " has label " +
                   std::to_string(data[at]));
    }
    set.labels.push_back(data[at]);
    const auto* pixels = data.data() + at + 1;
    set.pixels.insert(set.pixels.end(), pixels, pixels + kImageBytes);
  }
  return {};
}

ImageSet empty_set() {
  ImageSet set;
  set.rows = kCifarSide;
  set.columns = kCifarSide;
  set.channels = kCifarChannels;
  return set;
}

}  // namespace

bool looks_like_cifar(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(batch_file(folder, 1), ignored);
}

Result<Dataset> load_cifar(const fs::path& folder) {
  ImageSet train = empty_set();
  ImageSet test = empty_set();
  std::error_code ignored;
  for (int number = 1; number <= kMaxBatches; ++number) {
    const fs::path file = batch_file(folder, number);
    if (!fs::exists(file, ignored)) continue;
    TS_CHECK_OK(append_file(file, train));
  }
  TS_CHECK_OK(append_file(folder / "test_batch.bin", test));
  Dataset data;
  data.name = "cifar10";
  data.origin = folder.string();
  data.classes = kCifarClasses;
  data.class_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                      "dog",      "frog",       "horse", "ship", "truck"};
  data.train = std::make_shared<MemorySamples>(std::move(train));
  data.test = std::make_shared<MemorySamples>(std::move(test));
  return data;
}

}  // namespace trainscope::workload
