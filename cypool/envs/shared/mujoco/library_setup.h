// Fills a Library by names, for library.pyx alone.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <dlfcn.h>

#include "cypool/mujoco.h"

namespace cypool {

// the installed version's description of itself
struct Found {
    std::unordered_map<std::string, Place> places;  // of fields, as "mjData.qpos"
    std::unordered_map<std::string, int64_t> numbers, sizes;

    int64_t number(const std::string& name) const { return get(numbers, name); }
    // sizes of structs
    int64_t size(const std::string& name) const { return get(sizes, name); }
    // of numbers of these sizes: others would be misread
    Place place(const std::string& name, size_t bytes, size_t or_bytes = 0) const {
        const Place found = get(places, name);
        const auto size = static_cast<size_t>(found.bytes);
        if (size != bytes && size != or_bytes) throw std::runtime_error("a different type for " + name);
        return found;
    }

private:
    template <class Table> static typename Table::mapped_type get(const Table& table, const std::string& name) {
        const auto found = table.find(name);
        if (found == table.end()) throw std::runtime_error("no " + name);
        return found->second;
    }
};

// Takes all that the table in cypool/mujoco.h has. Throws if the installed version lacks a field, or has it otherwise.
inline void set_up_layout(Library& l, const Found& found) {
    l.model_bytes = found.size("mjModel"), l.data_bytes = found.size("mjData"), l.scene_bytes = found.size("mjvScene");
    l.context_bytes = found.size("mjrContext"), l.contact_bytes = found.size("mjContact");
    l.contact = found.place("mjData.contact", 0);  // an array of structs
#define X(name, known) \
    if (found.number(#name) != known) throw std::runtime_error("a different " #name);
    CYPOOL_MUJOCO_CONSTANTS(X)
#undef X
#define X(name) l.name = static_cast<int>(found.number(#name));
    CYPOOL_MUJOCO_NUMBERS(X)
    if (found.numbers.contains("mjENBL_SLEEP")) X(mjENBL_SLEEP)
#undef X
    for (const auto& [name, place] : found.places)
        if (name.starts_with("mjModel.n")) l.sizes.emplace(name.substr(8), place);
    // they became longer in 3.9
#define X(name) l.name = found.place("mjModel." #name, 4, 8);
    CYPOOL_MUJOCO_SIZES(X)
#undef X
#define X(type, name) l.name = found.place("mjModel." #name, sizeof(type));
    CYPOOL_MUJOCO_MODEL(X)
#undef X
#define X(type, name) l.name = found.place("mjData." #name, sizeof(type));
    CYPOOL_MUJOCO_DATA(X)
#undef X
#define X(type, name, field) l.name = found.place(field, sizeof(type));
    CYPOOL_MUJOCO_PLACES(X)
#undef X
#define X(type, name, field) \
    if (found.places.contains(field)) l.name = found.place(field, sizeof(type));
    CYPOOL_MUJOCO_LATER_PLACES(X)
#undef X
#define X(type, field)                                                                                    \
    if (found.sizes.contains(#type)                                                                       \
        && found.place(#type "." #field, sizeof(std::remove_all_extents_t<decltype(type::field)>)).offset \
               != offsetof(type, field))                                                                  \
        throw std::runtime_error("a different offset for " #type "." #field);
    CYPOOL_MUJOCO_SAME(X)
#undef X
    for (const auto& [name, room] :
         {std::pair("mjvOption", sizeof(mjvOption)), std::pair("mjvCamera", sizeof(mjvCamera)),
          std::pair("mjvPerturb", sizeof(mjvPerturb))})
        if (found.size(name) > static_cast<int64_t>(room)) throw std::runtime_error(std::string("a larger ") + name);
}

// Takes the functions of the library, which is loaded. Throws if it lacks one.
inline void set_up_functions(Library& l, const char* path) {
    void* const handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (!handle) throw std::runtime_error(std::string("no library loaded from ") + path);
    const auto find = [handle]<class F>(F*& function, const char* name) {
        function = reinterpret_cast<F*>(dlsym(handle, name));
        return function != nullptr;
    };
#define X(name, ...) \
    if (!find(l.name, #name)) throw std::runtime_error("no " #name);
#define Y(result, name, parameters) X(name)
    CYPOOL_MUJOCO_STAGES(X)
    CYPOOL_MUJOCO_FUNCTIONS(Y)
    X(mj_deleteModel)
    X(mj_deleteData)
    X(mjcb_time)
    X(mjcb_control)
#undef Y
#undef X
    // not in a header, but exported for such as us
    if (!find(l.set_log_handler, "_mjPRIVATE_setTlsLogHandler")
        && !(find(l.get_error_handler, "_mjPRIVATE__get_tls_error_fn")
             && find(l.get_warning_handler, "_mjPRIVATE__get_tls_warning_fn")
             && find(l.set_error_handler, "_mjPRIVATE__set_tls_error_fn")
             && find(l.set_warning_handler, "_mjPRIVATE__set_tls_warning_fn")))
        throw std::runtime_error("no error handlers per thread");
    l.version = l.mj_version();
}

}  // namespace cypool
