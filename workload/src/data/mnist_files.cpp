#include "data/mnist_files.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>

#include "data/idx_file.h"

namespace trainscope::workload {
namespace {

namespace fs = std::filesystem;

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
    return Error(folder.string() + ": no " + role + "-" + kind + " (plain or .gz)");
  }
  return read_idx(*file, rank);
}

Result<ImageSet> load_set(const fs::path& folder, const std::string& prefix) {
  TS_TRY(IdxArray images, read_part(folder, prefix + "-images", "idx3-ubyte", 3));
  TS_TRY(IdxArray labels, read_part(folder, prefix + "-labels", "idx1-ubyte", 1));
  const std::vector<std::uint32_t>& shape = images.dimensions;
  if (shape[0] != labels.dimensions[0]) {
    return Error(folder.string() + ": " + std::to_string(shape[0]) + " " + prefix +
                 " images, but " + std::to_string(labels.dimensions[0]) + " labels");
  }
  ImageSet set;
  set.rows = shape[1];
  set.columns = shape[2];
  set.pixels = std::move(images.bytes);
  set.labels = std::move(labels.bytes);
  return set;
}

}  // namespace

bool looks_like_mnist(const fs::path& folder) {
  for (const std::string role : {"train", "t10k"}) {
    if (find_part(folder, role + "-images", "idx3-ubyte")) return true;
    if (find_part(folder, role + "-labels", "idx1-ubyte")) return true;
  }
  return false;
}

Result<Dataset> load_mnist(const fs::path& folder, const std::string& name) {
  TS_TRY(ImageSet train, load_set(folder, "train"));
  TS_TRY(ImageSet test, load_set(folder, "t10k"));
  Dataset data;
  data.name = name;
  data.origin = folder.string();
  if (train.rows != test.rows || train.columns != test.columns) {
    return Error(folder.string() + ": train and t10k images differ in size");
  }
  const std::uint32_t classes = 1U + *std::ranges::max_element(train.labels);
  if (*std::ranges::max_element(test.labels) >= classes) {
    return Error(folder.string() + ": t10k has a label that no train image has");
  }
  data.classes = classes;
  data.train = std::make_shared<MemorySamples>(std::move(train));
  data.test = std::make_shared<MemorySamples>(std::move(test));
  return data;
}

}  // namespace trainscope::workload
