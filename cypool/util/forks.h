// Whether this process is a child of the one that something was made in: without a system call.
#pragma once

#include <pthread.h>

namespace cypool {

inline int forks_seen = 0;

// How many forks, since the first call, lie between the process that made it and this one.
inline int num_forks() noexcept {
    // ENOMEM, its only error, comes where there is no memory for anything else either
    [[maybe_unused]] static const int status = pthread_atfork(nullptr, nullptr, [] { forks_seen++; });
    return forks_seen;
}

}  // namespace cypool
