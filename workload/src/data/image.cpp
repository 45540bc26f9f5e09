#include "data/image.h"

#include <png.h>

#include <jpeglib.h>
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it first

namespace trainscope::workload {
namespace {

constexpr std::uint64_t kMaxPixels = 64'000'000;
constexpr std::size_t kChannels = 3;

bool too_large(std::uint64_t rows, std::uint64_t columns) {
  return rows == 0 || columns == 0 || rows * columns > kMaxPixels;
}

// libjpeg reports by a call that must not return: it jumps back to where decoding began.
struct JpegFault {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

void jpeg_jump(j_common_ptr codec) {
  auto* fault = reinterpret_cast<JpegFault*>(codec->err);
  codec->err->format_message(codec, fault->text);
  std::longjmp(fault->back, 1);
}

// The part between setjmp and the last call of libjpeg: nothing with a destructor lives in it.
bool jpeg_into(jpeg_decompress_struct& codec, JpegFault& fault, std::span<const std::uint8_t> bytes,
               Image& image) {
  if (setjmp(fault.back) != 0) return false;
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, bytes.data(), bytes.size());
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = JCS_RGB;
  jpeg_start_decompress(&codec);
  if (too_large(codec.output_height, codec.output_width)) {
    std::snprintf(fault.text, sizeof fault.text, "more than 64 million pixels");
    return false;
  }
  image.rows = codec.output_height;
  image.columns = codec.output_width;
  image.pixels.resize(std::size_t{image.rows} * image.columns * kChannels);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row =
        image.pixels.data() + std::size_t{codec.output_scanline} * image.columns * kChannels;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  if (codec.err->num_warnings > 0) {  // a truncated file is only a warning to libjpeg
    codec.err->format_message(reinterpret_cast<j_common_ptr>(&codec), fault.text);
    return false;
  }
  jpeg_finish_decompress(&codec);
  return true;
}

Result<Image> decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
  jpeg_decompress_struct codec{};
  JpegFault fault{};
  codec.err = jpeg_std_error(&fault.base);
  fault.base.error_exit = jpeg_jump;
  fault.base.emit_message = [](j_common_ptr self, int level) {
    if (level < 0) ++self->err->num_warnings;
  };
  Image image;
  const bool good = jpeg_into(codec, fault, bytes, image);
  jpeg_destroy_decompress(&codec);
  if (good) return image;
  return Error(name + ": damaged JPEG: " + fault.text);
}

Result<Image> decode_png(std::span<const std::uint8_t> bytes, const std::string& name) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  Image image;
  bool good = png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) != 0;
  if (good && too_large(header.height, header.width)) {
    png_image_free(&header);
    return Error(name + ": more than 64 million pixels");
  }
  if (good) {
    header.format = PNG_FORMAT_RGB;
    image.rows = header.height;
    image.columns = header.width;
    image.pixels.resize(PNG_IMAGE_SIZE(header));
    const png_color black{};
    good = png_image_finish_read(&header, &black, image.pixels.data(), 0, nullptr) != 0;
  }
  const std::string reason = header.message;
  png_image_free(&header);
  if (good) return image;
  return Error(name + ": damaged PNG: " + reason);
}

// Which source pixels one target pixel is made of, and how much of each: a triangle as wide as the
// target pixel, or as two source pixels where the image grows.
struct Blend {
  std::size_t first = 0;
  std::vector<float> weights;
};

std::vector<Blend> blends(double begin, double length, std::size_t limit, std::uint32_t side) {
  const double scale = length / side;
  const double reach = std::max(scale, 1.0);
  std::vector<Blend> result(side);
  for (std::uint32_t i = 0; i < side; ++i) {
    const double centre = begin + (i + 0.5) * scale;
    const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(centre - reach)));
    const auto high = std::min(limit, static_cast<std::size_t>(std::ceil(centre + reach)));
    double sum = 0.0;
    Blend& blend = result[i];
    blend.first = low;
    for (std::size_t pixel = low; pixel < high; ++pixel) {
      const double distance = std::abs(static_cast<double>(pixel) + 0.5 - centre) / reach;
      const double weight = std::max(0.0, 1.0 - distance);
      blend.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : blend.weights) weight /= static_cast<float>(sum);
  }
  return result;
}

// Rows first: one float plane of `side` columns and as many rows as the crop needs.
std::vector<float> shrink_columns(const Image& image, const std::vector<Blend>& columns) {
  const std::size_t side = columns.size();
  std::vector<float> out(image.rows * side * kChannels);
  for (std::size_t row = 0; row < image.rows; ++row) {
    const std::uint8_t* source = image.pixels.data() + row * image.columns * kChannels;
    for (std::size_t x = 0; x < side; ++x) {
      const Blend& blend = columns[x];
      float sums[kChannels] = {};
      for (std::size_t k = 0; k < blend.weights.size(); ++k) {
        const std::uint8_t* pixel = source + (blend.first + k) * kChannels;
        for (std::size_t c = 0; c < kChannels; ++c) sums[c] += blend.weights[k] * pixel[c];
      }
      std::copy_n(sums, kChannels, out.data() + (row * side + x) * kChannels);
    }
  }
  return out;
}

}  // namespace

Result<Image> decode_image(std::span<const std::uint8_t> bytes, const std::string& name) {
  const auto starts_with = [&](std::initializer_list<std::uint8_t> magic) {
    return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
  };
  if (starts_with({0xFF, 0xD8, 0xFF})) return decode_jpeg(bytes, name);
  if (starts_with({0x89, 'P', 'N', 'G'})) return decode_png(bytes, name);
  return Error(name + ": neither JPEG nor PNG");
}

void fit_image(const Image& image, const EncodedShape& shape, std::span<std::uint8_t> pixels) {
  const double square = std::min(image.rows, image.columns) * shape.crop;
  const std::size_t side = shape.side;
  const std::vector<Blend> columns =
      blends((image.columns - square) / 2.0, square, image.columns, shape.side);
  const std::vector<Blend> rows =
      blends((image.rows - square) / 2.0, square, image.rows, shape.side);
  const std::vector<float> narrow = shrink_columns(image, columns);
  constexpr float kBrightness[kChannels] = {0.299F, 0.587F, 0.114F};
  for (std::size_t y = 0; y < side; ++y) {
    const Blend& blend = rows[y];
    for (std::size_t x = 0; x < side; ++x) {
      float sums[kChannels] = {};
      for (std::size_t k = 0; k < blend.weights.size(); ++k) {
        const float* source = narrow.data() + ((blend.first + k) * side + x) * kChannels;
        for (std::size_t c = 0; c < kChannels; ++c) sums[c] += blend.weights[k] * source[c];
      }
      if (shape.channels == 1) {
        sums[0] = sums[0] * kBrightness[0] + sums[1] * kBrightness[1] + sums[2] * kBrightness[2];
      }
      for (std::size_t c = 0; c < shape.channels; ++c) {
        const float value = std::clamp(sums[c] + 0.5F, 0.0F, 255.0F);
        pixels[(c * side + y) * side + x] = static_cast<std::uint8_t>(value);
      }
    }
  }
}

}  // namespace trainscope::workload
