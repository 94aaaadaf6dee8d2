// Lanes for some environments of one model, as many as a thread steps at once, of either width.
#pragma once

#include <string>
#include <vector>

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

    // Takes the environments of these records together. `inner`: what was compared in steps other than the last one, of
    // which only the states are.
    virtual void load(Record* const* records, int count, const Coverage& coverage, const Coverage& inner) = 0;
    // mj_step, from its step number `frame` on, and after the last one perhaps mj_step1. Returns the number of the next
    // step, `frames` + 1 at the end: it breaks off after a step that lanes could not do for some environments, or in
    // which something was active that no compared step had: then it is `unseen` of their records.
    virtual int step(int frame, int frames, int reads, bool ends_with_step1) = 0;
    // Returns the environments for which MuJoCo has to take this step.
    virtual const std::vector<int>& find_failed() = 0;
    // Copies the state before the step.
    virtual void get_last(int environment, const State& state) const = 0;
    // Returns in what the state after it differs first, "" if in nothing.
    virtual std::string compare(int environment, const State& state) const = 0;
    // Continues with the state after it. `is_last`: there is no other step, and the record has the result.
    virtual void put(int environment, const State& state, bool is_last) = 0;
    // MuJoCo cannot do it either: the environment has no result.
    virtual void drop(int environment) = 0;
    // Writes what came out to the records; those that lanes gave up have no result.
    virtual void store(Record* const* records) = 0;
};

}  // namespace cypool::lanes
