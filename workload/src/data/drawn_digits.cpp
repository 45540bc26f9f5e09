#include "data/drawn_digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "data/random_stream.h"

namespace trainscope::workload {
namespace {

constexpr std::uint32_t kSide = 28;
constexpr std::size_t kClasses = 10;
constexpr float kDegree = std::numbers::pi_v<float> / 180.0F;

struct Point {
  float x;
  float y;
};
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

// One stream per image.
using Dice = RandomStream;

// Part of an ellipse; angles in degrees, clockwise from the right as y grows downwards.
Stroke arc(Point centre, Point radius, float from_deg, float to_deg) {
  constexpr int kPieces = 14;
  Stroke stroke;
  for (int i = 0; i <= kPieces; ++i) {
    const float part = static_cast<float>(i) / kPieces;
    const float angle = (from_deg + (to_deg - from_deg) * part) * kDegree;
    stroke.push_back(
        {centre.x + radius.x * std::cos(angle), centre.y + radius.y * std::sin(angle)});
  }
  return stroke;
}

Stroke joined(Stroke first, const Stroke& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The ten shapes in the unit square.
std::array<Glyph, kClasses> make_glyphs() {
  return {{
      {arc({0.5F, 0.5F}, {0.32F, 0.45F}, 0, 360)},
      {{{0.33F, 0.25F}, {0.55F, 0.05F}, {0.55F, 0.95F}}},
      {joined(arc({0.5F, 0.3F}, {0.3F, 0.25F}, 180, 390), {{0.2F, 0.95F}, {0.82F, 0.95F}})},
      {arc({0.45F, 0.28F}, {0.3F, 0.23F}, 200, 450), arc({0.45F, 0.73F}, {0.33F, 0.22F}, 270, 520)},
      {{{0.65F, 0.95F}, {0.65F, 0.05F}, {0.15F, 0.65F}, {0.87F, 0.65F}}},
      {{{0.78F, 0.05F}, {0.28F, 0.05F}, {0.26F, 0.48F}},
       arc({0.48F, 0.67F}, {0.3F, 0.27F}, 225, 500)},
      {joined(arc({0.75F, 0.65F}, {0.53F, 0.6F}, 265, 180),
              arc({0.5F, 0.7F}, {0.28F, 0.25F}, 180, 540))},
      {{{0.18F, 0.05F}, {0.82F, 0.05F}, {0.4F, 0.95F}}},
      {arc({0.5F, 0.28F}, {0.24F, 0.22F}, 0, 360), arc({0.5F, 0.73F}, {0.3F, 0.23F}, 0, 360)},
      {arc({0.5F, 0.3F}, {0.28F, 0.25F}, 0, 360), {{0.78F, 0.3F}, {0.68F, 0.95F}}},
  }};
}

// Unit square to pixels: scale, slant, turn, move, and a small tremble of every point.
Glyph placed(const Glyph& glyph, Dice& dice) {
  const float width = dice.between(12.0F, 20.0F);
  const float height = dice.between(15.0F, 21.0F);
  const float slant = dice.between(-0.25F, 0.25F);
  const float angle = dice.between(-15.0F, 15.0F) * kDegree;
  const Point middle{14.0F + dice.between(-3.0F, 3.0F), 14.0F + dice.between(-3.0F, 3.0F)};
  Glyph result = glyph;
  for (Stroke& stroke : result) {
    for (Point& point : stroke) {
      const float y = (point.y - 0.5F) * height + dice.between(-0.3F, 0.3F);
      const float x = (point.x - 0.5F) * width - slant * y + dice.between(-0.3F, 0.3F);
      point = {middle.x + x * std::cos(angle) - y * std::sin(angle),
               middle.y + x * std::sin(angle) + y * std::cos(angle)};
    }
  }
  return result;
}

float distance_to_segment(Point p, Point a, Point b) {
  const float dx = b.x - a.x;
  const float dy = b.y - a.y;
  const float length2 = dx * dx + dy * dy;
  float along = 0.0F;
  if (length2 > 0.0F) {
    along = std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0F, 1.0F);
  }
  const float ex = p.x - (a.x + along * dx);
  const float ey = p.y - (a.y + along * dy);
  return std::sqrt(ex * ex + ey * ey);
}

using Canvas = std::array<float, std::size_t{kSide} * kSide>;

// Ink of one segment, with a soft edge one pixel wide; only pixels near it are visited.
void ink_segment(Canvas& canvas, Point a, Point b, float radius) {
  const auto first = [&](float low) {
    return static_cast<std::uint32_t>(std::clamp(low - radius - 1.0F, 0.0F, float{kSide}));
  };
  const auto last = [&](float high) {
    return static_cast<std::uint32_t>(std::clamp(high + radius + 2.0F, 0.0F, float{kSide}));
  };
  for (std::uint32_t y = first(std::min(a.y, b.y)); y < last(std::max(a.y, b.y)); ++y) {
    for (std::uint32_t x = first(std::min(a.x, b.x)); x < last(std::max(a.x, b.x)); ++x) {
      const Point pixel{static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F};
      const float ink = std::clamp(radius + 0.5F - distance_to_segment(pixel, a, b), 0.0F, 1.0F);
      float& here = canvas[std::size_t{y} * kSide + x];
      here = std::max(here, ink);
    }
  }
}

void draw_one(const Glyph& glyph, Dice dice, std::uint8_t* pixels) {
  const Glyph shape = placed(glyph, dice);
  const float radius = dice.between(0.6F, 1.4F);
  const float brightness = dice.between(150.0F, 255.0F);
  const float noise = dice.between(0.0F, 35.0F);
  Canvas canvas{};
  for (const Stroke& stroke : shape) {
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      ink_segment(canvas, stroke[i - 1], stroke[i], radius);
    }
  }
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    const float value = canvas[i] * brightness + dice.between(-noise, noise);
    pixels[i] = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
  }
}

}  // namespace

ImageSet draw_digits(std::size_t count, std::uint64_t seed) {
  const std::array<Glyph, kClasses> glyphs = make_glyphs();
  ImageSet set;
  set.rows = kSide;
  set.columns = kSide;
  set.labels.resize(count);
  set.pixels.resize(count * kSide * kSide);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t digit = i % kClasses;
    set.labels[i] = static_cast<std::uint8_t>(digit);
    draw_one(glyphs[digit], Dice(seed, i), set.pixels.data() + i * kSide * kSide);
  }
  return set;
}

}  // namespace trainscope::workload
