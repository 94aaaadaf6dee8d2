// The terminal that NetHack prints its screens to. The library has one, libtmt, which checks each byte for all
// meanings. NetHack's most frequent output is printed here: to libtmt's lines and to the arrays that are observed.
#pragma once

#include <cstdint>
#include <cstring>

#include "cypool/envs/nethack/memory.h"

namespace cypool::nethack {

enum : size_t { SCREEN_ROWS = 24, SCREEN_COLUMNS = 80 };
static_assert(SCREEN == SCREEN_ROWS * SCREEN_COLUMNS);

// `TMT` as NLE 1.3.0 has it.
struct Terminal {
    struct Style {
        bool bold, dim, underline, blink, reverse, invisible;
        int32_t color = -1, background = -1;
        bool other;
    };
    struct Cell {
        int32_t letter;
        Style style;
    };
    struct Line {
        bool is_dirty;
        Cell cells[SCREEN_COLUMNS];
    };
    size_t row, column, old_place[2];
    Style style, old_style;
    bool is_dirty, is_alternate, is_ignored, wraps;
    size_t num_rows, num_columns;
    Line** lines;
    void* more[19];
    size_t numbers[8], num_numbers, number;
    int32_t state;  // 0: not within an escape sequence
};
static_assert(sizeof(Terminal::Cell) == 24 && offsetof(Terminal, is_dirty) == 0x48 && offsetof(Terminal, lines) == 0x60
              && offsetof(Terminal, numbers) == 0x100 && offsetof(Terminal, state) == 0x150);

class Printer {
public:
    Printer(Terminal& terminal, const Observation& observation)
        : terminal_(terminal),
          letters_(static_cast<char*>(observation.arrays[TTY_CHARS])),
          colors_(static_cast<int8_t*>(observation.arrays[TTY_COLORS])) {}

    // Returns how many bytes it has printed: the rest is for the library.
    size_t print(const char* text, size_t size) {
        // the library still has to write dirty lines to the arrays; a broken game may be anywhere
        if (terminal_.is_dirty || terminal_.state != 0 || terminal_.is_ignored || terminal_.num_rows != SCREEN_ROWS
            || terminal_.num_columns != SCREEN_COLUMNS || terminal_.row >= SCREEN_ROWS
            || terminal_.column >= SCREEN_COLUMNS) {
            return 0;
        }
        size_t done = 0;
        while (done < size) {
            const char letter = text[done];
            if (letter >= ' ' && letter <= '~' && terminal_.column < SCREEN_COLUMNS - 1) {
                put(terminal_.column++, letter, terminal_.style);
                ++done;
            } else if (letter == '\r') {
                terminal_.column = 0;
                ++done;
            } else if (const size_t length = letter == '\033' ? obey(text + done, size - done) : 0; length > 0) {
                done += length;
            } else {
                break;
            }
        }
        return done;
    }

private:
    Terminal& terminal_;
    char* letters_;
    int8_t* colors_;

    void put(size_t column, char letter, const Terminal::Style& style) {
        terminal_.lines[terminal_.row]->cells[column] = {letter, style};
        const size_t place = terminal_.row * SCREEN_COLUMNS + column;
        if (letters_ != nullptr) letters_[place] = letter;
        if (colors_ == nullptr) return;
        int color = style.color - 1;
        if (style.color < 0) {
            color = letter == ' ' ? 0 : 7;
        } else if (style.bold) {
            color |= 8;
        }
        colors_[place] = static_cast<int8_t>(color + (style.reverse ? 16 : 0));
    }

    // Executes an escape sequence. Returns its length; 0: it is one of others.
    size_t obey(const char* text, size_t size) {
        size_t given[2] = {}, last = 0, at = 2;
        if (size < 3 || text[1] != '[') return 0;
        for (; at < size; ++at) {
            if (text[at] == ';' && last == 0) {
                ++last;
            } else if (text[at] >= '0' && text[at] <= '9' && given[last] < 100) {
                given[last] = given[last] * 10 + static_cast<size_t>(text[at] - '0');
            } else {
                break;
            }
        }
        if (at == size) return 0;
        const size_t first = given[0] > 0 ? given[0] : 1, second = given[1] > 0 ? given[1] : 1;
        size_t &row = terminal_.row, &column = terminal_.column;
        switch (text[at]) {
            case 'A':
                if (row < first) return 0;
                row -= first;
                break;
            case 'B':
                if (row + first >= SCREEN_ROWS) return 0;
                row += first;
                break;
            case 'C':
                if (column + first >= SCREEN_COLUMNS) return 0;
                column += first;
                break;
            case 'D':
                if (column < first) return 0;
                column -= first;
                break;
            case 'H':
                if (first > SCREEN_ROWS || second > SCREEN_COLUMNS) return 0;
                row = first - 1, column = second - 1;
                break;
            case 'K':
                if (given[0] != 0) return 0;
                for (size_t k = column; k < SCREEN_COLUMNS; ++k) put(k, ' ', {});
                break;
            case 'm':
                for (size_t k = 0; k <= last; ++k) {
                    Terminal::Style& style = terminal_.style;
                    if (given[k] == 0) {
                        style = {};
                    } else if (given[k] == 1 || given[k] == 7) {
                        // libtmt looks at the first number
                        (given[k] == 1 ? style.bold : style.reverse) = given[0] < 20;
                    } else if (given[k] >= 30 && given[k] <= 37) {
                        style.color = static_cast<int32_t>(given[k] - 29);
                    } else {
                        return 0;
                    }
                }
                break;
            default: return 0;
        }
        return at + 1;
    }
};

}  // namespace cypool::nethack
