// Typed pointers to an action and to the parts of a row, for those who write environments.
#pragma once

#include <cstdint>

#include "cypool/slot.h"

namespace cypool {

inline int64_t discrete_action(const void* action) noexcept { return *static_cast<const int64_t*>(action); }

template <class T> const T* action_data(const void* action) noexcept { return static_cast<const T*>(action); }

template <class T> T* obs_row(const Slot* out, int k) noexcept { return static_cast<T*>(out->obs[k]); }

template <class T> T* info_row(const Slot* out, int k) noexcept { return static_cast<T*>(out->info[k]); }

}  // namespace cypool
