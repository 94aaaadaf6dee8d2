// Shrinks gray images exactly as OpenCV's resize with INTER_LINEAR does, without OpenCV.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cypool/area.h"

namespace cypool {

// Built once, const afterwards: any number of threads may share one object. Calls allocate nothing.
class LinearShrink {
 public:
  // Throws std::invalid_argument on sizes below 1, on enlarging, and on planes of more than 2^23 pixels.
  LinearShrink(int height, int width, int out_height, int out_width)
      : width_(width), out_height_(out_height), out_width_(out_width) {
    AreaShrink area(height, width, out_height, out_width);
    // OpenCV copies what keeps its size, and takes the area of what is halved both ways
    const bool same = height == out_height && width == out_width;
    if (same || (height == 2 * out_height && width == 2 * out_width)) area_ = std::move(area);
    rows_ = axis(height, out_height);
    columns_ = axis(width, out_width);
  }

  // plane: height x width bytes, out: out_height x out_width bytes, both without gaps; they must not overlap.
  // Nothing outside of the two is read or written.
  void operator()(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
    if (area_) return (*area_)(plane, out);
    // strips of columns keep the scratch on the stack for any width
    constexpr int kStrip = 64;
    int upper[kStrip], lower[kStrip];
    for (int left = 0; left < out_width_; left += kStrip) {
      const int count = std::min(kStrip, out_width_ - left);
      for (int y = 0; y < out_height_; ++y) {
        const Tap& row = rows_[y];
        along(plane, row.first, left, count, upper);
        along(plane, row.second, left, count, lower);
        std::uint8_t* target = out + static_cast<std::ptrdiff_t>(y) * out_width_ + left;
        // each product is cut, not rounded, before they are added: so do OpenCV's vector instructions
        for (int x = 0; x < count; ++x) {
          const int sum = (row.weight_first * upper[x] >> 16) + (row.weight_second * lower[x] >> 16);
          target[x] = static_cast<std::uint8_t>((sum + 2) >> 2);
        }
      }
    }
  }

 private:
  // an output row or column lies between two source ones; the weights add up to 2048
  struct Tap {
    int first, second;
    int weight_first, weight_second;
  };

  static std::vector<Tap> axis(int size, int out_size) {
    std::vector<Tap> taps;
    const double scale = 1.0 / (static_cast<double>(out_size) / size);
    for (int i = 0; i < out_size; ++i) {
      const float centre = static_cast<float>((i + 0.5) * scale - 0.5);
      const int first = std::clamp(static_cast<int>(std::floor(centre)), 0, size - 1);
      const float fraction = first == size - 1 ? 0.0f : centre - static_cast<float>(first);
      taps.push_back({first, std::min(first + 1, size - 1), fixed(1.0f - fraction), fixed(fraction)});
    }
    return taps;
  }

  // 11 bits, a half to even
  static int fixed(float weight) { return static_cast<int>(std::nearbyint(weight * 2048.0f)); }

  // what a source row is at the output's columns, with 7 bits behind the point
  void along(const std::uint8_t* plane, int row, int left, int count, int* line) const noexcept {
    const std::uint8_t* pixels = plane + static_cast<std::ptrdiff_t>(row) * width_;
    for (int x = 0; x < count; ++x) {
      const Tap& tap = columns_[left + x];
      line[x] = (pixels[tap.first] * tap.weight_first + pixels[tap.second] * tap.weight_second) >> 4;
    }
  }

  int width_, out_height_, out_width_;
  std::optional<AreaShrink> area_;
  std::vector<Tap> rows_, columns_;
};

}  // namespace cypool
