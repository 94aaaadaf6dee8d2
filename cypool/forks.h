// Whether this process is a child of the one that something was made in: without a system call.
#pragma once

#include <pthread.h>

namespace cypool {

inline int forks_seen = 0;
inline const int forks_are_counted = pthread_atfork(nullptr, nullptr, [] { forks_seen++; });

// How many forks lie between the process that loaded this module and this one.
inline int num_forks() noexcept { return forks_seen; }

}  // namespace cypool
