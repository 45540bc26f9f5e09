// Data in MNIST's four files: train and t10k, images and labels, IDX, plain or .gz.
//
// Guarantees: images and labels agree in number, both sets in size; no test label is unknown.
#pragma once

#include <filesystem>
#include <string>

#include "data/dataset.h"

namespace trainscope::workload {

// Whether the folder has at least one of the four, so that what is missing can be named.
bool looks_like_mnist(const std::filesystem::path& folder);

// `name` goes into the result.
Result<Dataset> load_mnist(const std::filesystem::path& folder, const std::string& name);

}  // namespace trainscope::workload
