// The library makes a mirrored copy of each sprite for each game that has it: most of a game's memory. Here all games
// have the same copies.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cypool/envs/procgen/layout.h"

namespace cypool::procgen {

class Mirrored {
public:
    // Puts the copies that all games share in the places of a game's own.
    static void share(char* game) {
        // a random shape is a game's own; other sprites are the library's, and stay where they are
        if (*reinterpret_cast<const bool*>(game + at::USE_GENERATED_ASSETS)) return;
        const auto& sprites = *reinterpret_cast<const Images*>(game + at::ASSETS);
        auto& copies = *reinterpret_cast<Images*>(game + at::REFLECTIONS);
        for (size_t k = 0; k < copies.size(); ++k) {
            // a shared copy belongs to the table, too
            if (copies[k].use_count() == 1) copies[k] = of(sprites[k].get(), copies[k]);
        }
    }

private:
    // as in the library: both have the C++ library of the system, whose counts of owners are atomic
    using Shared = std::shared_ptr<const void>;
    using Images = std::vector<Shared>;
    static_assert(sizeof(Shared) == 16 && sizeof(Images) == 24);

    // The copy that the first game made of a sprite. It is not written to, like the sprite.
    static Shared of(const void* sprite, const Shared& made) {
        static std::mutex one_at_a_time;
        static auto& known = *new std::map<const void*, Shared>;
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        return known.try_emplace(sprite, made).first->second;
    }
};

}  // namespace cypool::procgen
