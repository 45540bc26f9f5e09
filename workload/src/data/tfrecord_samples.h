// Images in TFRecord files: image/encoded and image/class/label, or raw CIFAR image and label.
//
// Guarantees: files whose name begins with train are learnt from, those with validation, eval or
// test are held out; without the latter every tenth record is. A record that cannot be used is an
// error that names file and record, when it is read.
// Limits: JPEG or PNG inside; raw images are 3 x 32 x 32 bytes, planar. The number of classes is
// one more than the largest label of the first 10,000 records of each set (reading all would take
// minutes); a larger one later is an error.
#pragma once

#include <filesystem>

#include "data/dataset.h"
#include "data/image.h"

namespace trainscope::workload {

bool looks_like_tfrecords(const std::filesystem::path& folder);
Result<Dataset> load_tfrecords(const std::filesystem::path& folder, const EncodedShape& shape);

}  // namespace trainscope::workload
