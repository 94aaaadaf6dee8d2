// Observations of NLE's library, written as its `fill_obs` writes them, but each array by itself, and at once to
// its target. These are most of the arrays; the library writes the small ones itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cypool/envs/nethack/memory.h"

namespace cypool::nethack {

namespace glyph {
enum : int { PET = 381, BEHIND_PETS = 762, ORACLE = 270, STONE = 2359, NONE = 5976 };
}

// `NetHackRL` of NLE 1.3.0: its drawn map, and the inventory.
struct Window {
    struct Item {
        int32_t glyph;
        const char* text;  // its length is in front of it
        uint8_t letter, oclass;
        void* more;
    };
    void* windows[3];
    int16_t glyphs[CELLS];
    uint8_t chars[CELLS], colors[CELLS], specials[CELLS];
    char descriptions[CELLS][LETTERS];
    char status[0x22888 - 0x207f - CELLS * LETTERS];
    const Item *items, *items_end;
};
static_assert(offsetof(Window, descriptions) == 0x207f && offsetof(Window, items) == 0x22888
              && sizeof(Window::Item) == 32 && alignof(Window) == 8);

// A bit for each cell of the map that has a description. There may be more, as clearing the map clears no bit.
inline void mark_described(Head& head, int x, int y) {
    const int cell = y * COLUMNS + x - 1;
    if (cell >= 0 && cell < static_cast<int>(CELLS)) head.described[cell / 64] |= uint64_t{1} << cell % 64;
}

// Most of the map has none. So this reads only cells with descriptions, and writes the rest without reading it.
inline void write_descriptions(const Window& window, Head& head, char* to) {
    size_t begin = 0;  // of cells that are not written yet
    for (size_t word = 0; word < size_t{Head::NUM_CELL_WORDS}; ++word) {
        for (uint64_t left = head.described[word]; left != 0; left &= left - 1) {
            const size_t cell = word * 64 + static_cast<size_t>(__builtin_ctzll(left));
            if (window.descriptions[cell][0] == 0) {
                head.described[word] &= ~(left & -left);
                continue;
            }
            if (cell > begin) std::memset(to + begin * LETTERS, 0, (cell - begin) * LETTERS);
            std::memcpy(to + cell * LETTERS, window.descriptions[cell], LETTERS);
            begin = cell + 1;
        }
    }
    std::memset(to + begin * LETTERS, 0, (CELLS - begin) * LETTERS);
}

// Whether an array is written here. The library writes the small ones, and those of the terminal.
inline bool is_large(int key) { return key <= SPECIALS || (key >= INV_GLYPHS && key <= SCREEN_DESCRIPTIONS); }

inline void write(const Window& window, Head& head, int key, void* to) {
    const bool plays = head.observation.in_normal_game != 0;
    const auto* const item = window.items;
    const size_t num = std::min<size_t>(static_cast<size_t>(window.items_end - item), ITEMS);
    auto* const bytes = static_cast<uint8_t*>(to);
    auto* const glyphs = static_cast<int16_t*>(to);
    const auto copy = [&](const uint8_t* cells) { plays ? std::memcpy(to, cells, CELLS) : std::memset(to, 0, CELLS); };
    switch (key) {
        case GLYPHS:
            if (plays) {
                std::memcpy(to, window.glyphs, sizeof window.glyphs);
            } else {
                std::fill_n(glyphs, size_t{CELLS}, int16_t{glyph::STONE});
            }
            break;
        case CHARS: copy(window.chars); break;
        case COLORS: copy(window.colors); break;
        case SPECIALS: copy(window.specials); break;
        case INV_GLYPHS:
            for (size_t k = 0; k < ITEMS; ++k) glyphs[k] = static_cast<int16_t>(k < num ? item[k].glyph : glyph::NONE);
            break;
        case INV_LETTERS:
            for (size_t k = 0; k < ITEMS; ++k) bytes[k] = k < num ? item[k].letter : 0;
            break;
        case INV_OCLASSES:
            // the number of classes stands for none
            for (size_t k = 0; k < ITEMS; ++k) bytes[k] = k < num ? item[k].oclass : 18;
            break;
        case INV_STRS:
            std::memset(to, 0, ITEMS * LETTERS);
            for (size_t k = 0; k < num; ++k) {
                size_t length;
                std::memcpy(&length, item[k].text - 24, sizeof length);
                std::memcpy(bytes + k * LETTERS, item[k].text, std::min<size_t>(length, LETTERS));
            }
            break;
        default:
            if (plays) {
                write_descriptions(window, head, static_cast<char*>(to));
            } else {
                std::memset(to, 0, CELLS * LETTERS);
            }
    }
}

}  // namespace cypool::nethack
