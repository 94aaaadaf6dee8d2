// The plain struct and the ABI number that the engine, our environments and plug-ins share.
#pragma once

#define CYPOOL_ABI 2  // bump on any change of Env (methods, their order, fields) or of Slot

namespace cypool {

// One row of a batch: where an environment writes what it observes. The pool owns the memory.
struct Slot {
    void* const* obs;   // obs[k]: this row of the k-th observation array, in the order of the spec
    void* const* info;  // info[k]: this row of the k-th info array, in the order of the spec
};

}  // namespace cypool
