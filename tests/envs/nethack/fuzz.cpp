// cypool's replacements for functions of NetHack's library and of the C library, compared with these: formats, the
// search in texts, and the terminal, each with random input.
//
//     g++ -std=c++20 -O2 -I. tests/envs/nethack/fuzz.cpp -o /tmp/fuzz_nethack
//     /tmp/fuzz_nethack FOLDER_OF_NLE SEED ROUNDS        (site-packages/nle; 1 100000 takes seconds)
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "cypool/envs/nethack/game.h"

using namespace cypool::nethack;

namespace {

std::mt19937 chance;
uint32_t below(uint32_t end) { return static_cast<uint32_t>(chance()) % end; }
template <class Value, size_t count> Value one_of(const Value (&values)[count]) { return values[below(count)]; }

// A conversion of an int (d), a long (l), a text (s) or a letter (c).
std::string conversion(char what) {
    std::string written = "%";
    written += one_of({"", "-", "0", "", "", "", "+", " "});
    if (below(2)) written += std::to_string(below(12));
    if (below(4) == 0) written += "." + (below(4) ? std::to_string(below(9)) : std::string());
    if (what == 'l') written += "l";
    written += what == 's' || what == 'c' ? what : one_of({'d', 'd', 'd', 'd', 'u', 'x', 'X', 'i'});
    return written;
}

bool formats_are_equal() {
    std::string format;
    uint64_t values[3];
    for (uint64_t& value : values) {
        const char what = one_of({'d', 'l', 's', 'c'});
        format += one_of({"", " ", "x%%y", "T:", "(", ")"}) + conversion(what);
        const auto small = static_cast<int64_t>(below(2000)) - 1000;
        value = static_cast<uint64_t>(what == 'c'    ? 'a' + static_cast<int64_t>(below(26))
                                      : below(3) > 0 ? small
                                      : what == 'l'  ? static_cast<int64_t>(uint64_t{chance()} << 32 | chance())
                                                     : static_cast<int32_t>(chance()));
        if (what == 's') value = reinterpret_cast<uint64_t>(one_of({"", "a", "hello", "a +0 short sword (in hand)"}));
    }
    char ours[200], theirs[200];
    const size_t size = below(3) ? sizeof ours : below(40);
    const int length = instead::snprintf(ours, size, format.c_str(), values[0], values[1], values[2]);
    const int want = std::snprintf(theirs, size, format.c_str(), values[0], values[1], values[2]);
    const size_t written = std::min(size, static_cast<size_t>(want) + 1);
    if (length == want && std::memcmp(ours, theirs, written) == 0) return true;
    std::printf("format \"%s\", size %zu: [%s], expected [%s]\n", format.c_str(), size, ours, theirs);
    return false;
}

bool searches_are_equal() {
    std::string text, part;
    for (uint32_t k = below(12); k > 0; --k) text += one_of({'a', 'A', 'b', 'B', '@', '`'});
    for (uint32_t k = below(4); k > 0; --k) part += one_of({'a', 'A', 'b', 'B', '@', '`'});
    if (instead::strstri(text.c_str(), part.c_str()) == strcasestr(text.c_str(), part.c_str())) return true;
    std::printf("search of %s in %s\n", part.c_str(), text.c_str());
    return false;
}

// Text that a game may print, and worse.
std::string printed() {
    std::string text;
    const auto number = [](uint32_t end) { return std::to_string(below(end)); };
    for (uint32_t parts = 1 + below(12); parts > 0; --parts) {
        switch (below(12)) {
            case 0:
            case 1: text += "\033[" + number(26) + ";" + number(83) + "H"; break;
            case 2: text += one_of({"\033[H", "\033[K", "\033[0m"}); break;
            case 3: text += std::string("\033[") + one_of({'A', 'B', 'C', 'D'}); break;
            case 4: text += "\033[" + number(30) + one_of({'A', 'B', 'C', 'D', 'H', 'K', 'J', 'm', 'd'}); break;
            case 5: text += "\033[" + number(50) + ";" + number(50) + "m"; break;
            case 6: text += std::string("\033[") + one_of({"0", "1", "7", "4", "30", "33", "37", "39"}) + "m"; break;
            case 7: text += one_of({'\r', '\n', '\b', '\t', '\a', '\016', '\017'}); break;
            case 8:
                if (below(8) == 0) text += one_of({"\033[2J", "\0337", "\0338", "\033", "\033[", "\033(B", "\x80\xff"});
                break;
            default:
                for (uint32_t k = below(60); k > 0; --k) text += one_of({' ', 'a', 'Z', '.', '#', '@', '-', '|'});
        }
    }
    return text;
}

// Two of the library's terminals: all is printed to one, and the output of `Printer` to the other.
bool terminals_are_equal() {
    const std::unique_ptr<Block> block = library->block();
    bool equal = true;
    const bool done = guarded(*block, [&] {
        struct Arrays {
            char letters[SCREEN];
            int8_t colors[SCREEN];
            uint8_t cursor[2];
        };
        const auto function = [&](const char* name) { return block->base + library->look_up(name); };
        const auto open =
            reinterpret_cast<Terminal* (*)(size_t, size_t, void*, void*, void*, bool)>(function("tmt_open"));
        const auto write = reinterpret_cast<void (*)(Terminal*, const char*, size_t)>(function("tmt_write"));
        Terminal* terminals[2];
        Arrays* seen[2];
        for (int k = 0; k < 2; ++k) {
            // of NLE's context only the place of the observation is read
            constexpr size_t OBSERVATION = 0x2050;
            auto* const context = static_cast<char*>(instead::malloc(OBSERVATION + sizeof(void*)));
            auto* const observation =
                k == 0 ? static_cast<Observation*>(instead::malloc(sizeof(Observation))) : &block->head().observation;
            std::memcpy(context + OBSERVATION, &observation, sizeof observation);
            seen[k] = static_cast<Arrays*>(instead::malloc(sizeof(Arrays)));
            observation->arrays[TTY_CHARS] = seen[k]->letters;
            observation->arrays[TTY_COLORS] = seen[k]->colors;
            observation->arrays[TTY_CURSOR] = seen[k]->cursor;
            terminals[k] = open(SCREEN_ROWS, SCREEN_COLUMNS, function("nle_vt_callback"), context, nullptr, true);
        }
        for (int k = 0; k < 200 && equal; ++k) {
            const std::string text = printed();
            if (text.empty()) continue;
            write(terminals[0], text.data(), text.size());
            instead::print(terminals[1], text.data(), text.size());
            equal = std::memcmp(seen[0], seen[1], sizeof(Arrays)) == 0 && terminals[0]->row == terminals[1]->row
                    && terminals[0]->column == terminals[1]->column && terminals[0]->state == terminals[1]->state;
            if (equal) continue;
            std::printf("terminal: ");
            for (const char letter : text) std::printf(letter < ' ' ? "\\x%02x" : "%c", letter & 255);
            std::printf("\n");
        }
    });
    return done && equal;
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return 2;
    const std::string folder = arguments[1];
    open_library(content(folder + "/libnethack.so"), content(folder + "/nethackdir/nhdat"));
    chance.seed(static_cast<uint32_t>(std::atol(arguments[2])));
    const long rounds = std::atol(arguments[3]);
    for (long k = 0; k < rounds; ++k) {
        if (!formats_are_equal() || !searches_are_equal() || (k % 200 == 0 && !terminals_are_equal())) return 1;
    }
    std::printf("%ld formats and searches, and %ld times what terminals show: all equal\n", rounds, rounds);
}
