// The lanes of a model for other modules, which hold records of their own.
#pragma once

#include "cypool/envs/shared/lanes/record.h"

namespace cypool::lanes {

struct Stepper {
    void* lanes = nullptr;  // a `Lanes` that the owner of this keeps; nullptr: mj_step steps
    int fewest = 1;
    // as those of `Engine`; -1: a Python exception is set
    int (*step)(void* lanes, Record** records, int count, int frames) = nullptr;
    int (*read_own)(void* lanes, const mjModel* m, Record* record) = nullptr;
    bool (*is_usable)(void* lanes) = nullptr;
    void (*report)(void* lanes, const char* differing) = nullptr;
};

template <class Engine> int read_own(Engine& engine, const mjModel* m, Record& record) noexcept {
    try {
        return engine.read_own(m, record);
    } catch (...) {
        return 0;
    }
}

}  // namespace cypool::lanes
