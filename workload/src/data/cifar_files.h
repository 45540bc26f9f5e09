// CIFAR-10's binary version: data_batch_N.bin and test_batch.bin, records of a label and 3,072
// bytes.
//
// Guarantees: a file that is not a whole number of records, or has a label above 9, is an error
// that names file and record.
// Limits: the files must be there; they are not fetched. All in memory (180 MB).
#pragma once

#include <filesystem>

#include "data/dataset.h"

namespace trainscope::workload {

bool looks_like_cifar(const std::filesystem::path& folder);
Result<Dataset> load_cifar(const std::filesystem::path& folder);

}  // namespace trainscope::workload
