#include "dataset.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <system_error>

#include "drawn_digits.h"
#include "idx_file.h"

namespace trainscope::workload {
namespace {

namespace fs = std::filesystem;

// Where Debian's dataset-fashion-mnist puts its files.
constexpr std::string_view kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";
constexpr std::size_t kDrawnTrainCount = 30000;
constexpr std::size_t kDrawnTestCount = 5000;

// The file of that role under one of the names in use: with a dash or a dot, packed or not.
std::optional<fs::path> find_part(const fs::path& folder, const std::string& role,
                                  const std::string& kind) {
  for (const std::string_view separator : {"-", "."}) {
    for (const std::string_view suffix : {"", ".gz"}) {
      fs::path file = folder / role;
      file += separator;
      file += kind;
      file += suffix;
      std::error_code ignored;
      if (fs::exists(file, ignored)) return file;
    }
  }
  return std::nullopt;
}

Result<IdxArray> read_part(const fs::path& folder, const std::string& role, const std::string& kind,
                           std::size_t rank) {
  const std::optional<fs::path> file = find_part(folder, role, kind);
  if (!file) {
    return Error{Fault::kBadInput,
                 folder.string() + ": no " + role + "-" + kind + " (plain or .gz) there"};
  }
  return read_idx(*file, rank);
}

Result<ImageSet> load_set(const fs::path& folder, const std::string& prefix) {
  Result<IdxArray> images = read_part(folder, prefix + "-images", "idx3-ubyte", 3);
  if (!images.ok()) return images.error();
  Result<IdxArray> labels = read_part(folder, prefix + "-labels", "idx1-ubyte", 1);
  if (!labels.ok()) return labels.error();
  const std::vector<std::uint32_t>& shape = images.value().dimensions;
  if (shape[0] != labels.value().dimensions[0]) {
    return Error{Fault::kBadInput, folder.string() + ": " + std::to_string(shape[0]) + " " +
                                       prefix + " pictures, but " +
                                       std::to_string(labels.value().dimensions[0]) + " labels"};
  }
  ImageSet set;
  set.rows = shape[1];
  set.columns = shape[2];
  set.pixels = std::move(images.value().bytes);
  set.labels = std::move(labels.value().bytes);
  return set;
}

Dataset draw_dataset(std::uint64_t seed, std::string why) {
  Dataset data;
  data.name = "drawn";
  data.origin = std::move(why);
  data.classes = 10;
  // Even seeds draw what is learnt, odd ones what is held out: the two never meet.
  data.train = draw_digits(kDrawnTrainCount, 2 * seed);
  data.test = draw_digits(kDrawnTestCount, 2 * seed + 1);
  return data;
}

}  // namespace

Result<Dataset> load_folder(const fs::path& folder, const std::string& name) {
  Result<ImageSet> train = load_set(folder, "train");
  if (!train.ok()) return train.error();
  Result<ImageSet> test = load_set(folder, "t10k");
  if (!test.ok()) return test.error();
  Dataset data;
  data.name = name;
  data.origin = folder.string();
  data.train = std::move(train.value());
  data.test = std::move(test.value());
  if (data.train.rows != data.test.rows || data.train.columns != data.test.columns) {
    return Error{Fault::kBadInput, folder.string() + ": train and t10k pictures differ in size"};
  }
  const std::uint32_t classes = 1U + *std::ranges::max_element(data.train.labels);
  if (*std::ranges::max_element(data.test.labels) >= classes) {
    return Error{Fault::kBadInput,
                 folder.string() + ": t10k has a label that no train picture has"};
  }
  data.classes = classes;
  return data;
}

Result<Dataset> load_dataset(const std::string& choice, std::uint64_t seed) {
  const fs::path installed = kFashionMnistFolder;
  if (choice == "drawn") return draw_dataset(seed, "drawn digits");
  if (choice == "fashion_mnist") return load_folder(installed, "fashion_mnist");
  if (choice == "auto") {
    std::error_code ignored;
    if (fs::exists(installed, ignored)) return load_folder(installed, "fashion_mnist");
    return draw_dataset(seed, "drawn digits: " + installed.string() +
                                  " is not there (Debian: apt install dataset-fashion-mnist)");
  }
  return load_folder(choice, "directory");
}

}  // namespace trainscope::workload
