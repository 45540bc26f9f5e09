#include "data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <system_error>

#include "data/split.h"
#include "data/whole_file.h"
#include "monotonic_clock.h"

namespace trainscope::workload {
namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

// Names in the folder that `wanted` takes, sorted; empty where it cannot be read.
template <typename Wanted>
std::vector<std::string> names_in(const fs::path& folder, Wanted wanted) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with('.') && wanted(*at)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> folders_in(const fs::path& folder) {
  return names_in(folder, [](const fs::directory_entry& entry) {
    std::error_code ignored;
    return entry.is_directory(ignored);
  });
}

std::vector<std::string> images_in(const fs::path& folder) {
  return names_in(folder, [](const fs::directory_entry& entry) { return is_image(entry.path()); });
}

class FileSamples : public Samples {
 public:
  FileSamples(fs::path folder, std::vector<NamedImage> images, const EncodedShape& shape)
      : folder_(std::move(folder)), images_(std::move(images)), shape_(shape) {}

  std::size_t count() const override { return images_.size(); }
  ImageShape shape() const override { return {shape_.channels, shape_.side, shape_.side}; }
  bool worth_threads() const override { return true; }
  Result<std::uint32_t> read(std::size_t index, std::span<std::uint8_t> pixels,
                             StageTimes& times) const override {
    const NamedImage& image = images_[index];
    TS_CHECK_OK(read_image_file(folder_ / image.name, shape_, pixels, times));
    return image.label;
  }

 private:
  fs::path folder_;
  std::vector<NamedImage> images_;
  EncodedShape shape_;
};

// FOLDER/train with FOLDER/test, validation or val next to it; nothing where there is no train.
std::optional<fs::path> held_out_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder / "train", ignored)) return std::nullopt;
  for (const char* name : {"test", "validation", "val"}) {
    if (fs::is_directory(folder / name, ignored)) return folder / name;
  }
  return std::nullopt;
}

Result<Dataset> load_two_folders(const fs::path& train, const fs::path& test,
                                 const EncodedShape& shape) {
  TS_TRY(ImageList learnt, list_images(train));
  TS_TRY(ImageList held_out, list_images(test));
  if (learnt.classes != held_out.classes) {
    return Error(test.string() + ": its folders are not those of " + train.string());
  }
  Dataset data;
  data.class_names = learnt.classes;
  data.train = std::make_shared<FileSamples>(train, std::move(learnt.images), shape);
  data.test = std::make_shared<FileSamples>(test, std::move(held_out.images), shape);
  return data;
}

Result<Dataset> load_one_folder(const fs::path& folder, const EncodedShape& shape) {
  TS_TRY(ImageList all, list_images(folder));
  std::vector<NamedImage> train;
  std::vector<NamedImage> test;
  const SplitShares shares{0.0, 10.0};
  for (NamedImage& image : all.images) {
    const bool held_out = choose_set(image.name, shares) == SetKind::kTest;
    (held_out ? test : train).push_back(std::move(image));
  }
  if (train.empty() || test.empty()) {
    return Error(folder.string() + ": too few images to hold one in ten out");
  }
  Dataset data;
  data.class_names = std::move(all.classes);
  data.train = std::make_shared<FileSamples>(folder, std::move(train), shape);
  data.test = std::make_shared<FileSamples>(folder, std::move(test), shape);
  return data;
}

}  // namespace

bool looks_like_image_folder(const fs::path& folder) {
  const fs::path root = held_out_folder(folder) ? folder / "train" : folder;
  return std::ranges::any_of(
      folders_in(root), [&](const std::string& name) { return !images_in(root / name).empty(); });
}

Result<ImageList> list_images(const fs::path& folder) {
  ImageList list;
  for (const std::string& name : folders_in(folder)) {
    const std::vector<std::string> files = images_in(folder / name);
    if (files.empty()) continue;
    const auto label = static_cast<std::uint32_t>(list.classes.size());
    list.classes.push_back(name);
    for (const std::string& file : files) {
      list.images.push_back({name + "/" + file, label});
    }
  }
  if (list.classes.size() < 2) {
    return Error(folder.string() + ": needs two or more folders with .jpg or .png images, has " +
                 std::to_string(list.classes.size()));
  }
  return list;
}

Result<Dataset> load_image_folder(const fs::path& folder, const EncodedShape& shape) {
  const std::optional<fs::path> held_out = held_out_folder(folder);
  TS_TRY(Dataset data, held_out ? load_two_folders(folder / "train", *held_out, shape)
                                : load_one_folder(folder, shape));
  data.name = "image_folder";
  data.origin = folder.string();
  data.classes = static_cast<std::uint32_t>(data.class_names.size());
  return data;
}

Status read_image_file(const fs::path& file, const EncodedShape& shape,
                       std::span<std::uint8_t> pixels, StageTimes& times) {
  const double begin_s = monotonic_s();
  const Result<std::vector<std::uint8_t>> bytes = read_whole_file(file);
  const double read_s = monotonic_s();
  times.read_s += read_s - begin_s;
  if (!bytes) return bytes.error();
  TS_TRY(const Image image, decode_image(*bytes, file.string()));
  fit_image(image, shape, pixels);
  times.decode_s += monotonic_s() - read_s;
  return {};
}

}  // namespace trainscope::workload
