// One folder of images per class: FOLDER/CLASS/*.jpg, or FOLDER/{train,test}/CLASS/*.jpg.
//
// Guarantees: classes are the folders' names in byte order, images in byte order of their names;
// without a train folder one image in ten is held out by the hash of its name (split.h). An
// image that cannot be read is an error that names it, when it is read. Limits: .jpg, .jpeg and
// .png in any case; names beginning with a dot are passed over; class folders are not searched for
// folders in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/image.h"

namespace trainscope::workload {

struct NamedImage {
  std::string name;  // CLASS/FILE
  std::uint32_t label = 0;
};

struct ImageList {
  std::vector<std::string> classes;
  std::vector<NamedImage> images;
};

bool looks_like_image_folder(const std::filesystem::path& folder);
Result<ImageList> list_images(const std::filesystem::path& folder);
Result<Dataset> load_image_folder(const std::filesystem::path& folder, const EncodedShape& shape);

// One file read, decoded and fitted.
Status read_image_file(const std::filesystem::path& file, const EncodedShape& shape,
                       std::span<std::uint8_t> pixels, StageTimes& times);

}  // namespace trainscope::workload
