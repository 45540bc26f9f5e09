#include "data/image.h"

#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>

#include "data/image_folder.h"
#include "data/whole_file.h"
#include "test_folder.h"

namespace trainscope::workload {
namespace {

// libpng's own writer.
std::vector<std::uint8_t> png_of(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = image.columns;
  header.height = image.rows;
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  png_image_write_get_memory_size(header, size, 0, image.pixels.data(), 0, nullptr);
  std::vector<std::uint8_t> bytes(size);
  png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr);
  bytes.resize(size);
  return bytes;
}

Image plain(std::uint32_t rows, std::uint32_t columns, std::uint8_t red, std::uint8_t green,
            std::uint8_t blue) {
  Image image{rows, columns, {}};
  for (std::uint32_t i = 0; i < rows * columns; ++i) {
    for (const std::uint8_t part : {red, green, blue}) image.pixels.push_back(part);
  }
  return image;
}

TEST(Image, png_comes_back_as_it_was) {
  Image image = plain(3, 2, 10, 20, 30);
  image.pixels[5] = 200;
  const Result<Image> decoded = decode_image(png_of(image), "p");
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded.value().rows, 3U);
  EXPECT_EQ(decoded.value().columns, 2U);
  EXPECT_EQ(decoded.value().pixels, image.pixels);
}

TEST(Image, damage_is_an_error_that_names_the_image) {
  std::vector<std::uint8_t> bytes = png_of(plain(50, 50, 1, 2, 3));
  bytes.resize(bytes.size() / 2);
  for (const std::vector<std::uint8_t>& bad :
       {bytes, {}, {'G', 'I', 'F'}, {0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 2, 3}}) {
    const Result<Image> decoded = decode_image(bad, "holiday.jpg");
    ASSERT_FALSE(decoded);
    EXPECT_TRUE(decoded.error().message().starts_with("holiday.jpg: "))
        << decoded.error().message();
  }
}

TEST(Image, one_colour_stays_that_colour_at_any_size) {
  for (const std::uint32_t side : {1U, 7U, 64U}) {
    std::vector<std::uint8_t> pixels(3 * side * side);
    fit_image(plain(20, 31, 9, 99, 199), {3, side, 0.875}, pixels);
    const std::size_t area = std::size_t{side} * side;
    EXPECT_TRUE(std::all_of(pixels.begin(), pixels.begin() + static_cast<std::ptrdiff_t>(area),
                            [](std::uint8_t p) { return p == 9; }));
    EXPECT_EQ(pixels[area], 99);
    EXPECT_EQ(pixels[2 * area], 199);
  }
}

TEST(Image, middle_square_is_kept_and_grey_is_brightness) {
  Image image = plain(2, 6, 0, 0, 0);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 2; column < 4; ++column) {
      std::fill_n(image.pixels.begin() + static_cast<std::ptrdiff_t>((row * 6 + column) * 3), 3,
                  std::uint8_t{200});
    }
  }
  std::vector<std::uint8_t> pixels(4);
  fit_image(image, {1, 2}, pixels);
  EXPECT_EQ(pixels, std::vector<std::uint8_t>(4, 200));
}

TEST(ImageFolder, classes_are_paths_in_order_and_held_out_images_are_by_name) {
  const TestFolder folder;
  const std::vector<std::uint8_t> red = png_of(plain(4, 4, 255, 0, 0));
  const std::vector<std::uint8_t> blue = png_of(plain(4, 4, 0, 0, 255));
  for (const char* name : {"zebra", "ant"}) {
    std::filesystem::create_directory(folder.path() / name);
    for (int i = 0; i < 60; ++i) {
      const auto& bytes = name[0] == 'a' ? red : blue;
      const std::array<std::span<const std::uint8_t>, 1> pieces{bytes};
      ASSERT_TRUE(write_whole_file(folder.path() / name / (std::to_string(i) + ".PNG"), pieces));
    }
  }
  ASSERT_TRUE(looks_like_image_folder(folder.path()));
  const Result<Dataset> data = load_image_folder(folder.path(), {3, 2});
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_EQ(data.value().class_names, (std::vector<std::string>{"ant", "zebra"}));
  EXPECT_EQ(data.value().train->count() + data.value().test->count(), 120U);
  EXPECT_GT(data.value().test->count(), 0U);
  EXPECT_LT(data.value().test->count(), 40U);
  std::vector<std::uint8_t> pixels(12);
  StageTimes times;
  ASSERT_EQ(data.value().train->read(0, pixels, times).value(), 0U);
  EXPECT_EQ(pixels, (std::vector<std::uint8_t>{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_GT(times.decode_s, 0.0);
}

TEST(ImageFolder, one_class_is_too_few) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path() / "only");
  const std::vector<std::uint8_t> bytes = png_of(plain(2, 2, 1, 2, 3));
  const std::array<std::span<const std::uint8_t>, 1> pieces{bytes};
  ASSERT_TRUE(write_whole_file(folder.path() / "only" / "a.png", pieces));
  const Result<ImageList> list = list_images(folder.path());
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message().find("two or more"), std::string::npos);
}

}  // namespace
}  // namespace trainscope::workload
