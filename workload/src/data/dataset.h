// The images a model learns from and is tested on, and where they come from.
//
// Guarantees: both sets have the same image shape and are not empty; every label is below
// `classes`. `auto` takes Fashion-MNIST where it is installed and generated digits where it is not;
// installed but damaged files are an error, never silently replaced. A folder is what its files
// say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/samples.h"

namespace trainscope::workload {

struct Dataset {
  std::string name;    // one word: fashion_mnist, drawn, synthetic, cifar10, directory, …
  std::string origin;  // for the reader: a folder, or why these
  std::uint32_t classes = 0;
  std::shared_ptr<const Samples> train;
  std::shared_ptr<const Samples> test;
  std::vector<std::string> class_names;  // empty where the data have none
};

// What the data must look like where they leave it open (encoded or synthetic images).
struct DataRequest {
  std::string choice = "auto";
  std::uint64_t seed = 1;  // of generated images
  std::uint32_t channels = 1;
  std::uint32_t side = 28;
  std::uint32_t classes = 10;
};

// `choice` is auto, fashion_mnist, drawn, synthetic, or a folder with MNIST's four files (plain or
// .gz), CIFAR-10's binary files, TFRecord files, or one folder of images per class.
Result<Dataset> load_dataset(const DataRequest& request);

}  // namespace trainscope::workload
