// The state of a world: how it is saved and loaded.
#pragma once

#include "cypool/envs/crafter/world.h"

namespace cypool::crafter {

// Objects without the slots that they have: in the order in which they came, and so those of each chunk.
struct World::Listed {
    std::vector<Object> objects;
    std::vector<int32_t> arrivals;  // indices of the objects, those of a chunk in the order in which they came to it
};

template <class Archive> void World::exchange(Archive& archive) {
    constexpr int64_t LARGEST_HASH = (int64_t{1} << 61) - 2;
    archive("seed_hash", seed_hash, -LARGEST_HASH, LARGEST_HASH);
    archive("episode", episode, 0, int64_t{1} << 60);
    if (!has_begun()) return;
    archive("step", step_count, 0, MAX_COUNT);
    archive.in("random", [&] {
        archive.all("key", random.key, 0, ~uint32_t{0});
        archive("position", random.position, 0, RandomState::SIZE);
    });
    Listed listed;
    if constexpr (!Archive::LOADS) list_objects(listed);
    if constexpr (Archive::LOADS) clear();
    archive.all("materials", materials, WATER, FURNACE);
    archive.list("objects", listed.objects, 1, shape.cells(), [&](Object& object) {
        archive("kind", object.kind, PLAYER, PLANT);
        archive("x", object.x, 0, shape.width - 1);
        archive("y", object.y, 0, shape.height - 1);
        archive("health", object.health, 0, MAX_HEALTH[object.kind]);
        archive("count", object.count, 0, MAX_COUNTS[object.kind]);
        archive("facing", object.facing, LEFT, object.kind == PLAYER || object.kind == ARROW ? DOWN : LEFT);
    });
    const size_t count = listed.objects.size();
    archive.list("arrivals", listed.arrivals, count, count,
                 [&](int32_t& index) { archive("index", index, 0, static_cast<int64_t>(count) - 1); });
    archive.list("chunks", chunk_order, 1, chunks.size(),
                 [&](int32_t& chunk) { archive("chunk", chunk, 0, static_cast<int64_t>(chunks.size()) - 1); });
    archive.all("inventory", inventory, 0, MAX_ITEMS);
    archive.all("achievements", achievements, 0, MAX_COUNT);
    archive("unlocked", unlocked, 0, (1 << NUM_ACHIEVEMENTS) - 1);
    archive("is_sleeping", is_sleeping);
    archive("health_at_update", health_at_update, 0, MAX_ITEMS);
    archive("health_at_step", health_at_step, 0, MAX_ITEMS);
    archive("hunger", hunger, 0, 2 * 25);
    archive("thirst", thirst, 0, 2 * 20);
    archive("fatigue", fatigue, -10, 30);
    archive("recovery", recovery, 2 * -15, 2 * 25);
    archive("reward", reward, -1, 2);
    if constexpr (Archive::LOADS) {
        update_daylight();
        take_objects(listed);
    }
}

inline void World::list_objects(Listed& listed) const {
    std::vector<int32_t> index(objects.size());
    for (int slot = first; slot; slot = objects[slot].next) {
        index[slot] = static_cast<int32_t>(listed.objects.size());
        listed.objects.push_back(objects[slot]);
    }
    for (const int chunk : chunk_order) {
        for (int slot = chunks[chunk].first; slot; slot = objects[slot].chunk_next) {
            listed.arrivals.push_back(index[slot]);
        }
    }
}

// Of a world whose materials and order of chunks are known; throws std::invalid_argument.
inline void World::take_objects(const Listed& listed) {
    const auto refuse = [](const char* list, size_t k, const char* expected, int64_t got) {
        refuse_state(name_of_item(list, k), expected, std::to_string(got));
    };
    survey();
    for (size_t k = 0; k < chunk_order.size(); ++k) {
        Chunk& chunk = chunks[chunk_order[k]];
        if (chunk.known) refuse("chunks", k, "each chunk once", chunk_order[k]);
        chunk.known = true;
    }
    objects.resize(1 + listed.objects.size());
    for (size_t k = 0; k < listed.objects.size(); ++k) {
        const Object& object = listed.objects[k];
        if ((object.kind == PLAYER) != (k == 0)) refuse("objects", k, "the player first, and only there", object.kind);
        if (!is_free(object.x, object.y, HABITATS[object.kind])) {
            refuse("objects", k, "a cell that is free for this object", at(object.x, object.y));
        }
        if (!chunks[chunk_at(object.x, object.y)].known) {
            refuse("objects", k, "a chunk from `chunks`", chunk_at(object.x, object.y));
        }
        append(static_cast<int>(k) + 1, object);
    }
    std::vector<bool> has_arrived(listed.objects.size());
    for (size_t k = 0; k < listed.arrivals.size(); ++k) {
        const int index = listed.arrivals[k];
        if (has_arrived[index]) refuse("arrivals", k, "each chunk once", index);
        has_arrived[index] = true;
        enter_chunk(index + 1);
    }
}

}  // namespace cypool::crafter
