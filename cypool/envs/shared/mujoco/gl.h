// OpenGL without a window or a display: EGL, or OSMesa; the libraries are loaded when they are first needed.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace cypool {

class Gl {
public:
    // the current context of a thread before one of ours
    struct Before {
        unsigned api;
        void *display, *draw, *read, *context;
        int width, height, type;
    };

    Gl() = default;
    Gl(const Gl&) = delete;
    void operator=(const Gl&) = delete;
    virtual ~Gl() = default;
    virtual std::string open() = 0;    // returns the missing part, "" if nothing is missing
    virtual void* make_context() = 0;  // nullptr: it could not be made
    virtual void free_context(void* context) = 0;
    virtual bool enter(void* context, Before& before) = 0;
    virtual void leave(const Before& before) = 0;

    // Lets one thread at a time draw, where that is done on the CPU: llvmpipe of Mesa 22 looks at what the threads of
    // other contexts free. It draws with threads of its own.
    std::unique_lock<std::mutex> alone() {
        return is_software_ ? std::unique_lock<std::mutex>(mutex_) : std::unique_lock<std::mutex>();
    }

protected:
    bool is_software_ = true;

    // global symbols: MuJoCo looks for eglGetProcAddress or OSMesaGetProcAddress among them
    bool load(const char* name) { return (library_ = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) != nullptr; }
    template <class F> bool find(F*& function, const char* name) {
        function = reinterpret_cast<F*>(dlsym(library_, name));
        return function != nullptr;
    }

private:
    void* library_ = nullptr;
    std::mutex mutex_;
};

// names and numbers are those of EGL's header
class Egl final : public Gl {
public:
    std::string open() override {
        if (!load("libEGL.so.1")) return dlerror();
        if (!(find(address_of_, "eglGetProcAddress") && find(initialize_, "eglInitialize")
              && find(choose_config_, "eglChooseConfig") && find(bind_api_, "eglBindAPI")
              && find(query_api_, "eglQueryAPI") && find(create_context_, "eglCreateContext")
              && find(destroy_context_, "eglDestroyContext") && find(make_current_, "eglMakeCurrent")
              && find(current_context_, "eglGetCurrentContext") && find(current_surface_, "eglGetCurrentSurface")
              && find(current_display_, "eglGetCurrentDisplay")))
            return dlerror();
        const auto query_devices = reinterpret_cast<unsigned (*)(int, void**, int*)>(address_of_("eglQueryDevicesEXT"));
        const auto platform_display =
            reinterpret_cast<void* (*)(unsigned, void*, const int*)>(address_of_("eglGetPlatformDisplayEXT"));
        void* devices[32];
        int count = 0;
        if (!query_devices || !platform_display || !query_devices(32, devices, &count) || count < 1)
            return "libEGL.so.1 has no driver for drawing without a display";
        int first = 0, end = count;
        if (const char* const chosen = std::getenv("MUJOCO_EGL_DEVICE_ID")) {
            char* rest;
            const long device = std::strtol(chosen, &rest, 10);
            if (rest == chosen || *rest || device < 0 || device >= count)
                return "MUJOCO_EGL_DEVICE_ID: expected 0 to " + std::to_string(count - 1) + ", got " + chosen;
            first = static_cast<int>(device);
            end = first + 1;
        }
        const auto device_string =
            reinterpret_cast<const char* (*)(void*, int)>(address_of_("eglQueryDeviceStringEXT"));
        // the first that works is taken, as MuJoCo's Python package does
        for (int k = first; k < end && !display_; ++k) {
            void* const display = platform_display(0x313F, devices[k], nullptr);  // EGL_PLATFORM_DEVICE_EXT
            if (!display || !initialize_(display, nullptr, nullptr)) continue;
            display_ = display;
            const char* const extensions = device_string ? device_string(devices[k], 0x3055) : nullptr;
            is_software_ = !extensions || std::strstr(extensions, "EGL_MESA_device_software");
        }
        if (!display_) return "libEGL.so.1 found no device that can draw";
        const int wanted[] = {
            0x3024, 8,      0x3023, 8, 0x3022, 8, 0x3021, 8,  // red, green, blue, alpha
            0x3025, 24,     0x3026, 8,                        // depth, stencil
            0x303F, 0x308E, 0x3033, 1, 0x3040, 8, 0x3038,     // RGB, pbuffers, OpenGL
        };
        int configs = 0;
        if (!choose_config_(display_, wanted, &config_, 1, &configs) || configs < 1)
            return "libEGL.so.1 has no OpenGL with 8 bits per color and a 24-bit depth buffer";
        return "";
    }

    void* make_context() override {
        const std::unique_lock<std::mutex> lock = alone();
        const unsigned api = query_api_();
        bind_api_(OPENGL);
        const int no_wishes[] = {0x3038};
        void* const context = create_context_(display_, config_, nullptr, no_wishes);
        bind_api_(api);
        return context;
    }

    void free_context(void* context) override {
        const std::unique_lock<std::mutex> lock = alone();
        destroy_context_(display_, context);
    }

    bool enter(void* context, Before& before) override {
        before = {query_api_(),
                  current_display_(),
                  current_surface_(0x3059),
                  current_surface_(0x305A),
                  current_context_(),
                  0,
                  0,
                  0};
        bind_api_(OPENGL);
        if (make_current_(display_, nullptr, nullptr, context)) return true;
        bind_api_(before.api);
        return false;
    }

    void leave(const Before& before) override {
        make_current_(display_, nullptr, nullptr, nullptr);
        bind_api_(before.api);
        if (before.context) make_current_(before.display, before.draw, before.read, before.context);
    }

private:
    static constexpr unsigned OPENGL = 0x30A2;
    void* display_ = nullptr;  // never ended: others in the process may have the same
    void* config_ = nullptr;
    void* (*address_of_)(const char*);
    unsigned (*initialize_)(void*, int*, int*);
    unsigned (*choose_config_)(void*, const int*, void**, int, int*);
    unsigned (*bind_api_)(unsigned);
    unsigned (*query_api_)();
    void* (*create_context_)(void*, void*, void*, const int*);
    unsigned (*destroy_context_)(void*, void*);
    unsigned (*make_current_)(void*, void*, void*, void*);
    void* (*current_context_)();
    void* (*current_surface_)(int);
    void* (*current_display_)();
};

// as OSMesa's header has it
class OsMesa final : public Gl {
public:
    std::string open() override {
        if (!load("libOSMesa.so.8") && !load("libOSMesa.so.6") && !load("libOSMesa.so")) return dlerror();
        if (!(find(create_context_, "OSMesaCreateContextExt") && find(destroy_context_, "OSMesaDestroyContext")
              && find(make_current_, "OSMesaMakeCurrent") && find(current_context_, "OSMesaGetCurrentContext")
              && find(color_buffer_, "OSMesaGetColorBuffer") && find(get_integer_, "OSMesaGetIntegerv")))
            return dlerror();
        return "";
    }

    void* make_context() override {
        const std::unique_lock<std::mutex> lock = alone();
        return create_context_(0x1908, 24, 8, 0, nullptr);  // GL_RGBA, depth, stencil
    }

    void free_context(void* context) override {
        const std::unique_lock<std::mutex> lock = alone();
        destroy_context_(context);
    }

    bool enter(void* context, Before& before) override {
        before = {0, nullptr, nullptr, nullptr, current_context_(), 0, 0, 0};
        if (before.context) {
            int format;
            get_integer_(0x23, &before.type);
            color_buffer_(before.context, &before.width, &before.height, &format, &before.draw);
        }
        return make_current_(context, window_, 0x1401, 1, 1);
    }

    void leave(const Before& before) override {
        make_current_(before.context, before.draw, static_cast<unsigned>(before.type), before.width, before.height);
    }

private:
    unsigned char window_[4];  // there has to be one, of a pixel at least; nothing is drawn there
    void* (*create_context_)(unsigned, int, int, int, void*);
    void (*destroy_context_)(void*);
    unsigned char (*make_current_)(void*, void*, unsigned, int, int);
    void* (*current_context_)();
    unsigned char (*color_buffer_)(void*, int*, int*, int*, void**);
    void (*get_integer_)(int, int*);
};

struct Opened {
    std::mutex mutex;
    std::unique_ptr<Gl> gl;
    std::atomic<pid_t> by{0};
};
inline Opened& opened() {
    static Opened* const it = new Opened;  // for as long as the process lives
    return *it;
}

// Whether this process is not the one that opened OpenGL: it lacks the threads of the driver.
inline bool gl_is_anothers() {
    const pid_t by = opened().by;
    return by && by != getpid();
}

// A driver may end its threads when the process exits (Mesa 26 does). A forked child has no such threads and would wait
// for ever, so it ends before the driver's turn, after the child's own atexit functions.
inline void end_children_early() {
    pthread_atfork(nullptr, nullptr, [] {
        on_exit(
            [](int status, void*) {
                std::fflush(nullptr);
                _exit(status);
            },
            nullptr);
    });
}

inline Gl& gl() { return *opened().gl; }

// Looks for OpenGL if that was not done. Returns the missing part, "" if nothing is missing.
inline std::string open_gl() {
    if (gl_is_anothers())
        throw std::runtime_error(
            "OpenGL was in use when this process was forked, and does not survive a fork: "
            "start processes with multiprocessing's \"spawn\" or \"forkserver\"");
    Opened& it = opened();
    const std::lock_guard<std::mutex> lock(it.mutex);
    if (it.gl) return "";
    const char* const variable = std::getenv("MUJOCO_GL");
    const std::string wanted = variable ? variable : "";
    std::string missing;
    for (const bool egl : {true, false}) {
        if (wanted == (egl ? "osmesa" : "egl")) continue;
        std::unique_ptr<Gl> found;
        if (egl)
            found = std::make_unique<Egl>();
        else
            found = std::make_unique<OsMesa>();
        const std::string without = found->open();
        if (without.empty()) {
            it.gl = std::move(found);
            it.by = getpid();
            end_children_early();
            return "";
        }
        missing += (missing.empty() ? "" : "; ") + without;
    }
    return missing;
}

// A context is current in this thread for as long as this lives.
class CurrentContextGuard {
public:
    explicit CurrentContextGuard(void* context) : alone_(gl().alone()), entered_(gl().enter(context, before_)) {}
    ~CurrentContextGuard() {
        if (entered_) gl().leave(before_);
    }
    CurrentContextGuard(const CurrentContextGuard&) = delete;
    void operator=(const CurrentContextGuard&) = delete;
    explicit operator bool() const { return entered_; }

private:
    const std::unique_lock<std::mutex> alone_;
    Gl::Before before_;
    bool entered_;
};

}  // namespace cypool
