#include "data/tfrecord_samples.h"

#include <tf_example.pb.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "data/tfrecord_file.h"
#include "monotonic_clock.h"

namespace trainscope::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLabelsLookedAt = 10000;
constexpr std::size_t kHoldOut = 10;  // one record in so many, where no file is held out
constexpr std::uint32_t kRawSide = 32;
constexpr std::uint32_t kRawChannels = 3;
constexpr std::size_t kRawBytes = std::size_t{kRawSide} * kRawSide * kRawChannels;

struct RecordPlace {
  std::shared_ptr<const TfrecordFile> file;
  std::size_t index = 0;
};

using Bytes = std::span<const std::uint8_t>;

Error fault(const RecordPlace& place, const std::string& what) {
  return Error(place.file->path().string() + ": record " + std::to_string(place.index) + ": " +
               what);
}

Result<tfexample::Example> parse_example(const RecordPlace& place, const std::string& record) {
  tfexample::Example example;
  if (!example.ParseFromString(record)) return fault(place, "not a tf.train.Example");
  return example;
}

// The first byte string of the feature of this name, or nothing if there is none.
std::optional<Bytes> find_bytes(const tfexample::Example& example, const std::string& name) {
  const auto found = example.features().feature().find(name);
  if (found == example.features().feature().end()) return std::nullopt;
  if (found->second.bytes_list().value().empty()) return std::nullopt;
  const std::string& value = found->second.bytes_list().value(0);
  return Bytes(reinterpret_cast<const std::uint8_t*>(value.data()), value.size());
}

std::optional<std::int64_t> find_number(const tfexample::Example& example,
                                        const std::string& name) {
  const auto found = example.features().feature().find(name);
  if (found == example.features().feature().end()) return std::nullopt;
  if (found->second.int64_list().value().empty()) return std::nullopt;
  return found->second.int64_list().value(0);
}

Result<std::int64_t> label_of(const tfexample::Example& example, const RecordPlace& place) {
  for (const char* name : {"image/class/label", "label"}) {
    const std::optional<std::int64_t> label = find_number(example, name);
    if (!label) continue;
    if (*label >= 0 && *label < 65536) return *label;
    return fault(place, "label " + std::to_string(*label));
  }
  return fault(place, "neither image/class/label nor label in it");
}

std::optional<Bytes> raw_of(const tfexample::Example& example) {
  const std::optional<Bytes> image = find_bytes(example, "image");
  return image && image->size() == kRawBytes ? image : std::nullopt;
}

std::optional<Bytes> encoded_of(const tfexample::Example& example) {
  for (const char* name : {"image/encoded", "image", "image_raw"}) {
    if (const std::optional<Bytes> image = find_bytes(example, name)) return image;
  }
  return std::nullopt;
}

class RecordSamples : public Samples {
 public:
  RecordSamples(std::vector<RecordPlace> places, ImageShape shape, bool raw)
      : places_(std::move(places)), shape_(shape), raw_(raw) {}

  std::size_t count() const override { return places_.size(); }
  ImageShape shape() const override { return shape_; }
  bool worth_threads() const override { return true; }

  Result<std::uint32_t> read(std::size_t index, std::span<std::uint8_t> pixels,
                             StageTimes& times) const override {
    const RecordPlace& place = places_[index];
    const double begin_s = monotonic_s();
    const Result<std::string> record = place.file->read(place.index);
    const double read_s = monotonic_s();
    times.read_s += read_s - begin_s;
    if (!record) return record.error();
    Result<std::uint32_t> label = decode(place, *record, pixels);
    times.decode_s += monotonic_s() - read_s;
    return label;
  }

  // The label alone: no image is decoded.
  Result<std::int64_t> label(std::size_t index) const {
    const RecordPlace& place = places_[index];
    TS_TRY(const std::string record, place.file->read(place.index));
    TS_TRY(const tfexample::Example example, parse_example(place, record));
    return label_of(example, place);
  }

  void set_classes(std::uint32_t classes) { classes_ = classes; }

 private:
  Result<std::uint32_t> decode(const RecordPlace& place, const std::string& record,
                               std::span<std::uint8_t> pixels) const {
    TS_TRY(const tfexample::Example example, parse_example(place, record));
    TS_TRY(const std::int64_t label, label_of(example, place));
    if (label >= classes_) {
      return fault(place, "label " + std::to_string(label) + ", but " + std::to_string(classes_) +
                              " classes were seen before");
    }
    const std::optional<Bytes> stored = raw_ ? raw_of(example) : encoded_of(example);
    if (!stored) return fault(place, "no image in it");
    if (raw_) {
      std::ranges::copy(*stored, pixels.begin());
    } else {
      TS_TRY(const Image image, decode_image(*stored, fault(place, "image").message()));
      fit_image(image, {shape_.channels, shape_.rows}, pixels);
    }
    return static_cast<std::uint32_t>(label);
  }

  std::vector<RecordPlace> places_;
  ImageShape shape_;
  bool raw_;
  std::uint32_t classes_ = 0;
};

bool is_held_out(const std::string& name) {
  return name.starts_with("validation") || name.starts_with("val-") || name.starts_with("eval") ||
         name.starts_with("test");
}

std::vector<fs::path> record_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool sharded =
        name.find("-of-") != std::string::npos && (name.starts_with("train") || is_held_out(name));
    const bool named = name.ends_with(".tfrecord") || name.ends_with(".tfrecords");
    if (!name.starts_with('.') && (named || sharded)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

struct Places {
  std::vector<RecordPlace> train;
  std::vector<RecordPlace> test;
};

Result<Places> find_records(const std::vector<fs::path>& files) {
  Places places;
  for (const fs::path& file : files) {
    TS_TRY(const std::shared_ptr<const TfrecordFile> opened, TfrecordFile::open(file));
    auto& set = is_held_out(file.filename().string()) ? places.test : places.train;
    for (std::size_t i = 0; i < opened->count(); ++i) set.push_back({opened, i});
  }
  if (!places.test.empty()) return places;
  std::vector<RecordPlace> learnt;
  for (std::size_t i = 0; i < places.train.size(); ++i) {
    (i % kHoldOut == kHoldOut - 1 ? places.test : learnt).push_back(places.train[i]);
  }
  places.train = std::move(learnt);
  return places;
}

Result<std::uint32_t> count_classes(const RecordSamples& samples) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < std::min(samples.count(), kLabelsLookedAt); ++i) {
    TS_TRY(const std::int64_t label, samples.label(i));
    largest = std::max(largest, label);
  }
  return static_cast<std::uint32_t>(largest + 1);
}

// Whether the first record has a raw CIFAR image; all others must then have one too.
Result<bool> first_is_raw(const RecordPlace& place) {
  TS_TRY(const std::string record, place.file->read(place.index));
  TS_TRY(const tfexample::Example example, parse_example(place, record));
  return raw_of(example).has_value();
}

}  // namespace

bool looks_like_tfrecords(const fs::path& folder) { return !record_files(folder).empty(); }

Result<Dataset> load_tfrecords(const fs::path& folder, const EncodedShape& encoded) {
  TS_TRY(Places places, find_records(record_files(folder)));
  if (places.train.empty() || places.test.empty()) {
    return Error(folder.string() + ": too few records to learn and to test");
  }
  TS_TRY(const bool raw, first_is_raw(places.train[0]));
  const ImageShape shape = raw ? ImageShape{kRawChannels, kRawSide, kRawSide}
                               : ImageShape{encoded.channels, encoded.side, encoded.side};
  auto train = std::make_shared<RecordSamples>(std::move(places.train), shape, raw);
  auto test = std::make_shared<RecordSamples>(std::move(places.test), shape, raw);
  std::uint32_t classes = 0;
  for (const auto& samples : {train, test}) {
    TS_TRY(const std::uint32_t seen, count_classes(*samples));
    classes = std::max(classes, seen);
  }
  train->set_classes(classes);
  test->set_classes(classes);
  Dataset data;
  data.name = "tfrecord";
  data.origin = folder.string();
  data.classes = classes;
  data.train = std::move(train);
  data.test = std::move(test);
  return data;
}

}  // namespace trainscope::workload
