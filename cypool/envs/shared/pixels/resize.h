// Resizing by one of OpenCV's two ways.
#pragma once

#include <cstdint>
#include <memory>

#include "cypool/envs/shared/pixels/area_resize.h"
#include "cypool/envs/shared/pixels/linear_resize.h"

namespace cypool {

// Const once built: threads may share one. A call allocates nothing.
class Resize {
public:
    // throws std::invalid_argument for sizes below 1 and for enlarging
    Resize(bool by_area, int height, int width, int out_height, int out_width, bool simd = true) {
        if (by_area) {
            area_ = std::make_unique<AreaShrink>(height, width, out_height, out_width, simd);
        } else {
            linear_ = std::make_unique<LinearShrink>(height, width, out_height, out_width, simd);
        }
    }

    // plane: height * width bytes; out: out_height * out_width bytes, elsewhere
    void operator()(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        if (area_) {
            (*area_)(plane, out);
        } else {
            (*linear_)(plane, out);
        }
    }

private:
    std::unique_ptr<const AreaShrink> area_;
    std::unique_ptr<const LinearShrink> linear_;
};

}  // namespace cypool
