// CarRacing's observation, 96 x 96, as Gymnasium draws it; and what its larger picture is drawn of.
#pragma once

#include <memory>
#include <string>

#include "cypool/envs/box2d/canvas.h"
#include "cypool/envs/box2d/car_racing.h"

namespace cypool::box2d {

// The numbers that pictures show, from `first` on and then -0, as pygame's font draws them in levels of gray.
struct Texts {
    int first = 0, height = 0;
    std::vector<int> widths;
    std::vector<std::string> levels;
};
// written once, with the GIL, before the first CarRacing is made
inline Texts& texts() {
    static Texts all;
    return all;
}
inline void add_text(int width, const std::string& levels) {
    texts().widths.push_back(width);
    texts().levels.push_back(levels);
}

// From the track's coordinates to pixels: pygame's Vector2.rotate_rad, then zoom and shift.
class View {
public:
    View(double angle, double zoom_) : zoom(zoom_) {
        constexpr double TURN = 6.283185307179586476925286766559, QUARTER = 1.5707963267948966, EPSILON = 1e-6;
        angle = std::fmod(angle, TURN);
        if (angle < 0) angle += TURN;
        if (std::fmod(angle + EPSILON, QUARTER) < 2 * EPSILON) {
            quarter = static_cast<int>((angle + EPSILON) / QUARTER) % 4;
        }
        sine = std::sin(angle);
        cosine = std::cos(angle);
    }
    void center(double x, double y) {
        const Point turned = turn(-x * zoom, -y * zoom);
        shift = {Canvas::WIDTH / 2 + turned.x, Canvas::HEIGHT / 4 + turned.y};
    }
    void at(double x, double y, double (&pixel)[2]) const {
        const Point turned = turn(x, y);
        pixel[0] = turned.x * zoom + shift.x;
        pixel[1] = turned.y * zoom + shift.y;
    }

private:
    Point turn(double x, double y) const {
        switch (quarter) {
            case 0: return {x, y};
            case 1: return {-y, x};
            case 2: return {-x, -y};
            case 3: return {y, -x};
            default: return {cosine * x - sine * y, sine * x + cosine * y};
        }
    }
    double sine, cosine, zoom;
    Point shift{0, 0};
    int quarter = -1;
};

// What pygame draws: a polygon with smooth or plain edges, or a line.
struct Shape {
    enum Kind : int { SMOOTH, PLAIN, LINE } kind;
    uint32_t color;
    std::vector<Point> points;
};

// Takes the place of a canvas, for pygame to draw the shapes.
class Recorder {
public:
    std::vector<Shape> shapes;
    size_t num_flipped = 0;  // the first ones, in a picture whose first row is the lowest one

    void begin(int, bool is_flipped) {
        if (!is_flipped) num_flipped = shapes.size();
    }
    void fill(int from, int to, uint32_t color) {
        const double top = from, bottom = to, right = Canvas::WIDTH;
        shapes.push_back({Shape::PLAIN, color, {{0, top}, {right, top}, {right, bottom}, {0, bottom}}});
    }
    void draw_quad(const double (&points)[4][2], uint32_t color) { add(Shape::SMOOTH, points, 4, color); }
    void draw_polygon(const double (*points)[2], int n, uint32_t color) { add(Shape::PLAIN, points, n, color); }
    void put_gray(int, int, uint8_t) {}

private:
    void add(Shape::Kind kind, const double (*points)[2], int n, uint32_t color) {
        Shape& shape = shapes.emplace_back(Shape{kind, color, {}});
        for (int k = 0; k < n; ++k) shape.points.push_back({points[k][0], points[k][1]});
    }
};

template <class Target> class CarPicture {
public:
    CarPicture(Target& canvas, const CarRacing& car)
        : canvas(canvas),
          car(car),
          pose(car.pose()),
          view(-pose.angle, zoom_of(car)),
          reach(800 / zoom_of(car) + 1) {
        view.center(pose.x, pose.y);
    }

    void draw() {
        // shapes behind the indicators, in the lowest rows, are not drawn
        canvas.begin(INDICATORS, true);
        draw_ground();
        for (const CarRacing::Quad& quad : car.quads) {
            const Point& corner = quad.corners[0];
            if (is_near(corner.x - LENGTH, corner.x + LENGTH, pose.x)
                && is_near(corner.y - LENGTH, corner.y + LENGTH, pose.y)) {
                draw_quad(quad.corners, color_of(car.color_of(quad)), true);
            }
        }
        if constexpr (std::is_same_v<Target, Recorder>) draw_skids();
        draw_car();
        canvas.begin(0, false);
        draw_indicators();
        draw_text();
    }

private:
    static constexpr double W = Canvas::WIDTH, H = Canvas::HEIGHT, FIELD = CarRacing::FIELD;
    static constexpr int INDICATORS = 100;
    static constexpr double LENGTH = 20;  // more than a tile's

    static double zoom_of(const CarRacing& car) {
        return 0.1 * CarRacing::SCALE * std::max(1 - car.time, 0.0) + 2.7 * CarRacing::SCALE * std::min(car.time, 1.0);
    }
    static uint32_t color_of(const CarRacing::Color& c) { return rgb(c.rgb[0], c.rgb[1], c.rgb[2]); }

    bool is_near(double from, double to, double center) const { return from <= center + reach && to >= center - reach; }
    void draw_quad(const Point (&corners)[4], uint32_t color, bool clip) {
        // Gymnasium leaves out shapes that are this far outside
        static const double FAR =
            std::max({FIELD / 20.0, CarRacing::WIDTH, CarRacing::DETAIL}) * std::sqrt(2.0) * 2.7 * CarRacing::SCALE;
        double points[4][2];
        bool near = !clip;
        for (int k = 0; k < 4; ++k) {
            view.at(corners[k].x, corners[k].y, points[k]);
            near |= -FAR <= points[k][0] && points[k][0] <= W + FAR && -FAR <= points[k][1] && points[k][1] <= H + FAR;
        }
        if (near) canvas.draw_quad(points, color);
    }

    void draw_ground() {
        // farther inside than the picture reaches, all of it is field
        const bool inside = std::fabs(pose.x) + reach < FIELD && std::fabs(pose.y) + reach < FIELD;
        canvas.fill(0, Canvas::HEIGHT, inside ? color_of(car.background) : 0);
        const Point field[4] = {{FIELD, FIELD}, {FIELD, -FIELD}, {-FIELD, -FIELD}, {-FIELD, FIELD}};
        if (!inside) draw_quad(field, color_of(car.background), false);
        constexpr double SIDE = FIELD / 20.0;
        for (int x = -20; x < 20; x += 2) {
            const double left = SIDE * x + 0, right = SIDE * x + SIDE;
            if (!is_near(left, right, pose.x)) continue;
            for (int y = -20; y < 20; y += 2) {
                const double low = SIDE * y + 0, high = SIDE * y + SIDE;
                if (!is_near(low, high, pose.y)) continue;
                draw_quad({{right, low}, {left, low}, {left, high}, {right, high}}, color_of(car.grass), true);
            }
        }
    }

    void draw_shape(int wheel, int part, uint32_t color) {
        double pixels[8][2];
        const std::vector<b2Vec2> points = car.outline(wheel, part);
        for (size_t k = 0; k < points.size(); ++k) view.at(points[k].x, points[k].y, pixels[k]);
        if (!points.empty()) canvas.draw_polygon(pixels, static_cast<int>(points.size()), color);
    }
    // observations have none
    void draw_skids() {
        for (const CarRacing::Skid& skid : car.skids) {
            Shape line{Shape::LINE, skid.grass ? rgb(102, 102, 0) : 0, {}};
            for (const Point& point : skid.points) {
                double pixel[2];
                view.at(point.x, point.y, pixel);
                line.points.push_back({pixel[0], pixel[1]});
            }
            canvas.shapes.push_back(line);
        }
    }
    void draw_car() {
        for (int wheel = 0; wheel < 4; ++wheel) {
            draw_shape(wheel, 0, rgb(0, 0, 0));
            draw_shape(wheel, 1, rgb(77, 77, 77));
        }
        for (int part = 0; part < 4; ++part) draw_shape(-1, part, rgb(204, 0, 0));
    }

    // the bar of a number, unless that is 0
    void draw_bar(double value, double left, double right, double top, double bottom, uint32_t color) {
        if (!(std::fabs(value) > 1e-4)) return;
        const double points[4][2] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
        canvas.draw_polygon(points, 4, color);
    }
    void draw_indicators() {
        constexpr double COLUMN = W / 40.0, LINE = H / 40.0;
        const auto upright = [&](double value, double place, double scale, uint32_t color) {
            draw_bar(value, place * COLUMN, (place + 1) * COLUMN, H - (LINE + LINE * (scale * value)), H - LINE, color);
        };
        const auto lying = [&](double value, double place, double scale, uint32_t color) {
            draw_bar(value, place * COLUMN, (place + scale * value) * COLUMN, H - 4 * LINE, H - 2 * LINE, color);
        };
        canvas.fill(Canvas::HEIGHT - INDICATORS, Canvas::HEIGHT, 0);
        upright(pose.speed, 5, 0.02, rgb(255, 255, 255));
        for (int k = 0; k < 4; ++k) {
            upright(car.wheels[k].omega, 7 + k, 0.01, k < 2 ? rgb(0, 0, 255) : rgb(51, 0, 255));
        }
        lying(pose.steer, 20, -10.0, rgb(0, 255, 0));
        lying(pose.spin, 30, -0.8, rgb(255, 0, 0));
    }

    void draw_text() {
        const Texts& all = texts();
        if (all.levels.empty()) return;
        // rounded to even, as Python's formatting does; the last text is that of -0
        const double number = std::nearbyint(car.shown);
        const size_t last = all.levels.size() - 1;
        const double end = all.first + static_cast<double>(last) - 1;
        const size_t k =
            number == 0 && std::signbit(number) ? last : static_cast<size_t>(clip(number, all.first, end) - all.first);
        const int width = all.widths[k], left = 60 - width / 2, top = 750 - all.height / 2;
        for (int y = 0; y < all.height; ++y) {
            for (int x = 0; x < width; ++x) {
                canvas.put_gray(left + x, top + y,
                                static_cast<uint8_t>(all.levels[k][static_cast<size_t>(y * width + x)]));
            }
        }
    }

    Target& canvas;
    const CarRacing& car;
    const CarRacing::Pose pose;
    View view;
    const double reach;  // no corner of the picture is farther from the car: it has at most 782 pixels there
};

// Writes red, green and blue of each pixel.
inline void draw_observation(const CarRacing& car, uint8_t* out) {
    // of a thread, not of an environment: it is 3.5 MB large. A pointer: without memory for a thread_local the C
    // library ends the process
    static thread_local std::unique_ptr<Canvas> canvas;
    if (!canvas) canvas = std::make_unique<Canvas>();
    CarPicture(*canvas, car).draw();
    canvas->shrink(out);
}

inline Recorder shapes_of(const CarRacing& car) {
    Recorder recorder;
    CarPicture(recorder, car).draw();
    return recorder;
}

inline void CarRacing::observe(const Slot& out) const {
    auto* picture = obs_row<uint8_t>(&out, 0);
    if (ready()) {
        draw_observation(*this, picture);
    } else {
        std::memset(picture, 0, 3 * Canvas::SMALL * Canvas::SMALL);
    }
    *info_row<uint8_t>(&out, 0) = lap_finished;
}

}  // namespace cypool::box2d
