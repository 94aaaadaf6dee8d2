// Lanes for some environments of one model, as many as a thread steps at once, of either width.
#pragma once

#include "cypool/envs/shared/lanes/coverage.h"

#define CYPOOL_LANES_INLINE static inline __attribute__((always_inline))

namespace cypool::lanes {

// a contact as MuJoCo's own colliders write it, since 3.17
struct PreContact {
    double dist, pos[3], normal[3], tangent[3];
};
// MuJoCo's own colliders, for geoms that are close
struct Collider {
    using Function = int (*)(const RawModel*, RawData*, PreContact*, int, int, double);
    const Function* functions;  // by two shapes
    const mjModel* m;
    mjData* d;  // for these calls only, with the geoms of the world in their places
    // mju_rayGeom
    using Ray = double (*)(const double*, const double*, const double*, const double*, const double*, int, double*);
    Ray ray;
};

class Batch {
public:
    Batch() = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    virtual ~Batch() = default;

    // Takes the environments of these records together.
    virtual void load(Record* const* records, int count, const Coverage& coverage) = 0;
    // mj_step, some times, and perhaps mj_step1.
    virtual void step(int frames, int reads, bool ends_with_step1) = 0;
    // Writes what came out to the records; those of bad lanes have no result.
    virtual void store(Record* const* records) = 0;
};

}  // namespace cypool::lanes
