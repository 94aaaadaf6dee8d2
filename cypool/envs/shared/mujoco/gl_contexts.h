// OpenGL contexts with MuJoCo's data in them, each lent to one thread at a time.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "cypool/envs/shared/mujoco/gl.h"
#include "cypool/envs/shared/mujoco/guard.h"

namespace cypool {

// A context, and the objects that were made in it for a model and a size.
class GlContext {
public:
    GlContext(const mjModel* m, int width, int height, int max_geom)
        : context_(gl().make_context()),
          shared_ground_(m->hfield_data),
          scene_bytes_(new char[static_cast<size_t>(library().scene_bytes)]),
          made_bytes_(new char[static_cast<size_t>(library().context_bytes)]) {
        if (!context_) throw std::runtime_error("OpenGL: no context could be created");
        mjv_defaultScene(scene_);
        mjr_defaultContext(made_);
        try {
            const CurrentContextGuard current(context_);
            if (!current) throw std::runtime_error("OpenGL: another context is in use in this thread");
            const ModelStruct grown(m);
            int& offwidth = at<int>(grown.get(), library().vis_offwidth);
            int& offheight = at<int>(grown.get(), library().vis_offheight);
            offwidth = std::max(offwidth, width);
            offheight = std::max(offheight, height);
            // MuJoCo looks for OpenGL's functions here, for all threads
            static std::mutex one_at_a_time;
            const std::lock_guard<std::mutex> lock(one_at_a_time);
            guarded([&] {
                mjv_makeScene(grown.get(), scene_, max_geom);
                mjr_makeContext(grown.get(), made_, mjFONTSCALE_150);
                mjr_setBuffer(mjFB_OFFSCREEN, made_);
            });
        } catch (...) {
            free();
            throw;
        }
    }
    ~GlContext() { free(); }
    GlContext(const GlContext&) = delete;
    void operator=(const GlContext&) = delete;

    void draw(const mjModel* m, mjData* d, mjvCamera* camera, const mjvOption* option, bool shadows, int width,
              int height, unsigned char* out) {
        const CurrentContextGuard current(context_);
        if (!current) throw std::runtime_error("OpenGL: another context is in use in this thread");
        const mjrRect all = {0, 0, width, height};
        const size_t row = 3 * static_cast<size_t>(width);
        flipped_rows_.resize(row * height);
        mjvPerturb nothing;
        mjv_defaultPerturb(&nothing);
        warned(m, d, [&] {
            // an environment's own ground; the context may have been lent to another one before
            for (int k = 0; m->hfield_data != shared_ground_ && k < m->nhfield; ++k) mjr_uploadHField(m, made_, k);
            mjv_updateScene(m, d, option, &nothing, camera, mjCAT_ALL, scene_);
            (&at<unsigned char>(scene_, library().scene_flags))[mjRND_SHADOW] = shadows;
            mjr_render(all, scene_, made_);
            mjr_readPixels(flipped_rows_.data(), nullptr, all, made_);
        });
        for (int k = 0; k < height; ++k) std::memcpy(out + (height - 1 - k) * row, flipped_rows_.data() + k * row, row);
    }

private:
    void free() {
        // a context that a fork copied is the other process's
        if (gl_is_anothers()) return;
        try {
            const CurrentContextGuard current(context_);
            // at the end of the process the display may have been ended before
            if (current) guarded([this] { mjr_freeContext(made_); });
        } catch (const std::runtime_error&) {
            // it goes with the context anyway
        }
        mjv_freeScene(scene_);
        gl().free_context(context_);
    }

    void* context_;
    const float* shared_ground_;
    std::unique_ptr<char[]> scene_bytes_, made_bytes_;
    mjvScene* const scene_ = reinterpret_cast<mjvScene*>(scene_bytes_.get());
    mjrContext* const made_ = reinterpret_cast<mjrContext*>(made_bytes_.get());
    std::vector<unsigned char> flipped_rows_;
};

// As many as there are threads that draw at a time.
class GlContextPool {
public:
    GlContextPool(const mjModel* m, int width, int height, int max_geom)
        : m_(m),
          width_(width),
          height_(height),
          max_geom_(max_geom) {
        // so that failures are found here
        put(take());
    }

    void draw(const mjModel* m, mjData* d, mjvCamera* camera, const mjvOption* option, bool shadows,
              unsigned char* out) {
        if (gl_is_anothers()) throw std::runtime_error("OpenGL does not survive a fork");
        std::unique_ptr<GlContext> context = take();
        context->draw(m, d, camera, option, shadows, width_, height_, out);
        // after an error it is not
        put(std::move(context));
    }

    size_t count() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return free_.size();
    }

private:
    std::unique_ptr<GlContext> take() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!free_.empty()) {
                std::unique_ptr<GlContext> context = std::move(free_.back());
                free_.pop_back();
                return context;
            }
        }
        return std::make_unique<GlContext>(m_, width_, height_, max_geom_);
    }

    void put(std::unique_ptr<GlContext> context) {
        const std::lock_guard<std::mutex> lock(mutex_);
        free_.push_back(std::move(context));
    }

    const mjModel* m_;
    int width_, height_, max_geom_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<GlContext>> free_;
};

}  // namespace cypool
