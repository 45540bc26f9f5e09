#include "data/dataset.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "data/cifar_files.h"
#include "data/drawn_digits.h"
#include "data/image_folder.h"
#include "data/mnist_files.h"
#include "data/synthetic.h"
#include "data/tfrecord_samples.h"

namespace trainscope::workload {
namespace {

namespace fs = std::filesystem;

// Where Debian's dataset-fashion-mnist puts its files.
constexpr std::string_view kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";
constexpr std::size_t kDrawnTrainCount = 30000;
constexpr std::size_t kDrawnTestCount = 5000;

Dataset draw_dataset(std::uint64_t seed, std::string why) {
  Dataset data;
  data.name = "drawn";
  data.origin = std::move(why);
  data.classes = 10;
  // Even seeds draw what is learnt, odd ones what is held out: the two never meet.
  data.train = std::make_shared<MemorySamples>(draw_digits(kDrawnTrainCount, 2 * seed));
  data.test = std::make_shared<MemorySamples>(draw_digits(kDrawnTestCount, 2 * seed + 1));
  return data;
}

Result<Dataset> load_folder(const DataRequest& request) {
  const fs::path folder = request.choice;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Error("--data " + request.choice +
                 ": neither a folder nor one of auto, fashion_mnist, drawn, synthetic");
  }
  if (looks_like_mnist(folder)) return load_mnist(folder, "directory");
  if (looks_like_cifar(folder)) return load_cifar(folder);
  const EncodedShape shape{request.channels, request.side};
  if (looks_like_tfrecords(folder)) return load_tfrecords(folder, shape);
  if (looks_like_image_folder(folder)) return load_image_folder(folder, shape);
  return Error(folder.string() +
               ": no MNIST files, CIFAR-10 binary files, TFRecord files or "
               "folders with JPEG or PNG images there");
}

}  // namespace

Result<Dataset> load_dataset(const DataRequest& request) {
  const fs::path installed = kFashionMnistFolder;
  if (request.choice == "drawn") return draw_dataset(request.seed, "generated digits");
  if (request.choice == "synthetic") return make_synthetic(request);
  if (request.choice == "fashion_mnist") return load_mnist(installed, "fashion_mnist");
  if (request.choice != "auto") return load_folder(request);
  // What is small enough for these; the larger models have no data that every machine has.
  if (request.side > 64) {
    Dataset data = make_synthetic(request);
    data.origin += " (--data for real ones)";
    return data;
  }
  std::error_code ignored;
  if (fs::exists(installed, ignored)) return load_mnist(installed, "fashion_mnist");
  return draw_dataset(request.seed,
                      "generated digits: " + installed.string() +
                          " does not exist (Debian: apt install dataset-fashion-mnist)");
}

}  // namespace trainscope::workload
