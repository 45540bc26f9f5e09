// The pictures a model learns from and is tested on, and where they come from.
//
// Guarantees: pictures and labels of a set agree in number; both sets have the same picture size;
// every label is below `classes`. `auto` takes Fashion-MNIST where it is installed and drawn digits
// where it is not; installed but damaged files are an error, never silently replaced.
// Limits: one grey channel, one byte a pixel, all in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "result.h"

namespace trainscope::workload {

struct ImageSet {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint8_t> pixels;  // picture after picture, row after row
  std::vector<std::uint8_t> labels;

  std::size_t count() const { return labels.size(); }
};

struct Dataset {
  std::string name;    // one word: fashion_mnist, drawn, directory
  std::string origin;  // for the reader: a folder, or why these
  std::uint32_t classes = 0;
  ImageSet train;
  ImageSet test;
};

// `choice` is auto, fashion_mnist, drawn, or a folder with MNIST's four files (plain or .gz).
// `seed` matters for drawn pictures only.
Result<Dataset> load_dataset(const std::string& choice, std::uint64_t seed);

// The same for one folder; `name` goes into the result.
Result<Dataset> load_folder(const std::filesystem::path& folder, const std::string& name);

}  // namespace trainscope::workload
