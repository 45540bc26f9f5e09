// Pictures are compared with test/golden/picture-<name>.svg. TRAINSCOPE_REGENERATE=1 writes those
// files again.
#include "report/picture/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdlib>

#include "base/fd.h"
#include "report/picture/canvas.h"
#include "report/picture/markup.h"

namespace trainscope {
namespace picture_test {

void expect_golden(const std::string& name, const std::string& got) {
  const std::string path =
      std::string(TRAINSCOPE_TEST_DATA) + "/../golden/picture-" + name + ".svg";
  if (std::getenv("TRAINSCOPE_REGENERATE") != nullptr) {
    ASSERT_TRUE(replace_file(path, got));
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden) << path;
  EXPECT_EQ(*golden, got) << "if this is right, run the test with TRAINSCOPE_REGENERATE=1";
}

LinePicture two_lines() {
  LinePicture picture{"Step time: baseline", "step time", "s", {}, 0, 60, true, "2 of 9 series"};
  PictureLine band{"A: step time", {}, {}, {}, {}, 3.5, 0};
  PictureLine values{"B: step time", {}, {}, {}, {}, 0, 1};
  for (int i = 0; i < 60; ++i) {
    const double time_s = i + 0.5;
    if (i < 20 || i > 30) {  // a gap between
      band.time_s.push_back(time_s);
      band.mean.push_back(0.02 + 0.0001 * i);
      band.low.push_back(0.018);
      band.high.push_back(i == 40 ? 0.09 : 0.025 + 0.0001 * i);
    }
    if (i % 7 == 0) {
      values.time_s.push_back(time_s);
      values.mean.push_back(0.01);
    }
  }
  picture.lines = {band, values};
  return picture;
}

BarPicture two_bars() {
  return {
      "Where the time went",
      {{"A: slow",
        {{"input wait", 0.62, 6.2}, {"host work", 0.31, 3.1}, {"unexplained", 0.07, 0.7}}},
       {"B: fast",
        {{"host work", 0.95, 9.5}, {"checkpoint", 0.002, 0.02}, {"unexplained", 0.048, 0.48}}}}};
}

TEST(picture, lines) { expect_golden("lines", draw(two_lines())); }
TEST(picture, bars) { expect_golden("bars", draw(two_bars())); }
TEST(picture, empty) { expect_golden("empty", draw_empty("GPU", "no GPU was found")); }

TEST(picture, does_not_depend_on_the_locale) {
  const std::string before = draw(two_lines());
  for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    EXPECT_EQ(draw(two_lines()), before) << name;
  }
  std::setlocale(LC_ALL, "C");
}

TEST(picture, a_spike_is_drawn) {
  // The largest value of the band decides the axis.
  EXPECT_NE(draw(two_lines()).find(">100<"), std::string::npos);
}

TEST(picture, hostile_text_is_no_markup) {
  LinePicture picture = two_lines();
  const std::string hostile = "</svg><script>alert('x')</script>\"\x1b[31m\n&";
  picture.title = picture.y_name = picture.note = picture.lines[0].name = hostile;
  const std::string svg = draw(picture);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
  EXPECT_EQ(svg.find("</svg>"), svg.size() - 7);
  BarPicture bars = two_bars();
  bars.title = bars.bars[0].name = bars.bars[0].parts[0].part = hostile;
  EXPECT_EQ(draw(bars).find("<script"), std::string::npos);
}

TEST(picture, refers_to_nothing_outside) {
  for (const std::string& svg : {draw(two_lines()), draw(two_bars())}) {
    EXPECT_EQ(svg.find("href"), std::string::npos);
    EXPECT_EQ(svg.find("url("), std::string::npos);
    EXPECT_EQ(svg.find("style"), std::string::npos);
  }
}

TEST(picture, a_line_is_not_joined_over_an_interruption) {
  const auto parts = [](const std::vector<Interruption>& interruptions) {
    PictureLine line{"step time", {1, 2, 3, 8, 9, 10}, {1, 1, 1, 2, 2, 2}, {}, {}, 0, 0};
    line.interruptions = interruptions;
    const std::string text = draw(LinePicture{"t", "y", "s", {line}, 0, 10, true, ""});
    const size_t path = text.find("<path d=\"");
    const std::string_view commands =
        std::string_view(text).substr(path, text.find("/>", path) - path);
    const bool has_point = text.find("<circle") != std::string::npos;  // one that is not joined
    return std::count(commands.begin(), commands.end(), 'M') + (has_point ? 1 : 0);
  };
  EXPECT_EQ(parts({}), 1);
  EXPECT_EQ(parts({{3.5, 7.5}}), 2);
  EXPECT_EQ(parts({{0, 0.5}, {2.2, 2.4}, {3.5, 4}, {5, 7.5}, {20, 30}}), 3);
}

TEST(picture, a_long_name_of_an_axis_leaves_its_unit_whole) {
  LinePicture picture = two_lines();
  picture.y_name = "share of the time that tasks waited for it";
  picture.unit = "By/s";
  const std::string drawn = draw(picture);
  EXPECT_NE(drawn.find("… (B/s)"), std::string::npos) << drawn;
}

TEST(picture, one_point_is_drawn) {
  LinePicture picture{"x", "x", "s", {{"x", {1}, {2}, {2}, {2}, 1, 0}}, 0, 2, true, ""};
  EXPECT_NE(draw(picture).find("<circle"), std::string::npos);
  picture.lines[0] = {"x", {}, {}, {}, {}, 1, 0};
  EXPECT_NE(draw(picture).find("</svg>"), std::string::npos);
}

TEST(markup, coordinates_are_short) {
  EXPECT_EQ(coordinate(1), "1");
  EXPECT_EQ(coordinate(1.5), "1.5");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(12.346), "12.35");
}

TEST(markup, text_is_escaped) {
  EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escaped("\x07"), "?");
}

TEST(canvas, text_is_cut_between_characters) {
  EXPECT_EQ(fitting("abc", 100), "abc");
  const std::string cut = fitting("ééééééééé", 5 * 4.8);
  EXPECT_EQ(cut, "éééé…");
}

}  // namespace picture_test
}  // namespace trainscope
