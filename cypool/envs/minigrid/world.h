// The grid, its objects and the agent: minigrid's Grid, WorldObj and MiniGridEnv, with the same random draws.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "cypool/rng.h"

namespace cypool::minigrid {

enum Type : uint8_t { UNSEEN, EMPTY, WALL, FLOOR, DOOR, KEY, BALL, BOX, GOAL, LAVA, AGENT };
enum Color : uint8_t { RED, GREEN, BLUE, PURPLE, YELLOW, GREY };
enum DoorState : uint8_t { OPEN_DOOR, CLOSED_DOOR, LOCKED_DOOR };
enum Action { LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE };

constexpr int ANY = -1;                                                       // drawn, or not asked for
constexpr std::array<int, 6> COLORS{BLUE, GREEN, GREY, PURPLE, RED, YELLOW};  // COLOR_NAMES is sorted
constexpr std::array<int, 3> KINDS{KEY, BALL, BOX};
constexpr int DX[4] = {1, 0, -1, 0}, DY[4] = {0, 1, 0, -1};
// Of one reset. Some arguments leave no room for an object, and the reference then draws for ever; work is
// in about nanoseconds, and ends only resets that throw a level away.
constexpr int MAX_DRAWS = 20'000'000;
constexpr int64_t MAX_WORK = 1'000'000'000;

inline std::string name_of_color(int color) {
    constexpr const char* names[] = {"red", "green", "blue", "purple", "yellow", "grey"};
    return names[color];
}

inline std::string name_of_type(int type) {
    constexpr const char* names[] = {"unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava"};
    return names[type];
}

struct Pos {
    int x, y;
    bool operator==(const Pos&) const = default;
};

inline int distance(Pos a, Pos b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }

// RecursionError: a limit of tries is reached
struct NoPlace {};

// the first four bytes are its visible state, and whether one sees the cell behind
struct Object {
    uint8_t type, color, state, clear;
    uint8_t matches = 0;    // BabyAI: bit d is set if description d of the mission means it
    uint8_t listed = 0;     // in a room's list of objects
    uint16_t contains = 0;  // of a box
    Pos at{-1, -1};         // on the grid only where the cell there holds it; (-1, -1) once it was picked up
};

// A cell has the index of an object. The first four stand for all of their kind.
constexpr int NOTHING = 0, A_WALL = 1, A_GOAL = 2, A_LAVA = 3, FIRST = 4, MAX_OBJECTS = 65536;

class World {
public:
    const Rng* stream = nullptr;  // in a step or a reset
    int width = 0, height = 0, view = 7;
    bool see_through = false, view_is_late = false;
    // of the episode
    int step_count = 0, max_steps = 100, dir = 0, carrying = NOTHING;
    Pos agent{0, 0};
    double reward = 0;
    bool terminated = false, truncated = false;
    std::string mission;
    std::vector<Object> objects;

    // the grid has a margin of walls: cells of a view outside of it look like one
    int margin() const { return view - 1; }
    int stride() const { return stride_; }
    int index(Pos p) const { return (p.y + margin()) * stride_ + p.x + margin(); }
    uint16_t& cell(Pos p) { return cells_[index(p)]; }
    uint16_t cell(Pos p) const { return cells_[index(p)]; }
    uint16_t& cell(int x, int y) { return cell({x, y}); }
    bool on_grid(int k) const { return objects[k].at.x >= 0 && cell(objects[k].at) == k; }

    // Grid(w, h)
    void clear(int w, int h) {
        width = w;
        height = h;
        stride_ = w + 2 * margin();
        cells_.assign(static_cast<size_t>(stride_) * (h + 2 * margin()), A_WALL);
        work_ += static_cast<int64_t>(cells_.size());
        for (int y = 0; y < h; ++y) std::fill_n(&cell(0, y), w, uint16_t{NOTHING});
        objects.assign({{EMPTY, RED, 0, 1}, {WALL, GREY, 0, 0}, {GOAL, GREEN, 0, 1}, {LAVA, RED, 0, 1}});
    }

    int make(int type, int color, bool locked = false, int contains = NOTHING) {
        if (objects.size() == MAX_OBJECTS) throw std::length_error("more objects than a level may have");
        const uint8_t state = type != DOOR ? 0 : locked ? LOCKED_DOOR : CLOSED_DOOR;
        objects.push_back({static_cast<uint8_t>(type), static_cast<uint8_t>(color), state, type != DOOR});
        objects.back().contains = static_cast<uint16_t>(contains);
        return static_cast<int>(objects.size()) - 1;
    }

    void open(int door) {
        objects[door].state = OPEN_DOOR;
        objects[door].clear = 1;
    }

    void put(int k, Pos p) {
        cell(p) = static_cast<uint16_t>(k);
        if (k >= FIRST) objects[k].at = p;
    }

    void horizontal(int x, int y, int n, int k = A_WALL) {
        for (int i = 0; i < n; ++i) cell(x + i, y) = static_cast<uint16_t>(k);
    }

    void vertical(int x, int y, int n, int k = A_WALL) {
        for (int j = 0; j < n; ++j) cell(x, y + j) = static_cast<uint16_t>(k);
    }

    void rectangle(int x, int y, int w, int h) {
        horizontal(x, y, w);
        horizontal(x, y + h - 1, w);
        vertical(x, y, h);
        vertical(x + w - 1, y, h);
    }

    int draw(int low, int high) {
        if (++draws_ > MAX_DRAWS) throw std::runtime_error("no level with these options was found in 20 million draws");
        return static_cast<int>(integers(stream, low, high));
    }
    bool draw_bool() { return draw(0, 2) == 0; }
    template <class List> int draw_of(const List& list) { return list[draw(0, static_cast<int>(list.size()))]; }
    int draw_color() { return draw_of(COLORS); }

    // _rand_subset: the items that are drawn, in the order of the draws
    template <class List> std::vector<int> draw_some(const List& list, int count) {
        std::vector<int> rest(list.begin(), list.end()), drawn;
        for (int k = 0; k < count; ++k) {
            const int i = draw(0, static_cast<int>(rest.size()));
            drawn.push_back(rest[i]);
            rest.erase(rest.begin() + i);
        }
        return drawn;
    }

    // place_obj: in a rectangle, where nothing is and `rejects` does not say no; limit + 1 tries, or any number
    template <class Rejects> Pos place(int k, Pos top, Pos size, int limit, Rejects rejects) {
        top = {std::max(top.x, 0), std::max(top.y, 0)};
        const Pos end{std::min(top.x + size.x, width), std::min(top.y + size.y, height)};
        if (top.x >= end.x || top.y >= end.y) throw std::runtime_error("the grid is too small for this level");
        for (int tries = 0; limit == ANY || tries <= limit; ++tries) {
            const int x = draw(top.x, end.x);
            const Pos p{x, draw(top.y, end.y)};
            if (cell(p) == NOTHING && !(p == agent) && !rejects(p)) {
                put(k, p);
                return p;
            }
        }
        throw NoPlace{};
    }
    Pos place(int k, Pos top, Pos size, int limit = ANY) {
        return place(k, top, size, limit, [](Pos) { return false; });
    }
    Pos place(int k) { return place(k, {0, 0}, {width, height}); }

    void place_agent(Pos top, Pos size, int limit = ANY) {
        agent = {-1, -1};
        agent = place(NOTHING, top, size, limit);
        dir = draw(0, 4);
    }
    void place_agent() { place_agent({0, 0}, {width, height}); }

    Pos front() const { return {agent.x + DX[dir], agent.y + DY[dir]}; }
    bool is(int k, int type) const { return objects[k].type == type; }
    void finish(bool is_won) {
        terminated = true;
        reward = is_won ? 1 - 0.9 * (static_cast<double>(step_count) / max_steps) : 0;
    }

    // before a level that was thrown away is drawn again
    void start_again() const {
        if (work_ + 10 * draws_ > MAX_WORK) {
            throw std::runtime_error("no level with these options was found within a second");
        }
    }

    void begin() {
        draws_ = work_ = 0;
        step_count = 0;
        carrying = NOTHING;
        reward = 0;
        terminated = truncated = false;
        agent = {-1, -1};
    }

    // MiniGridEnv.step
    void move(int action) {
        ++step_count;
        reward = 0;
        terminated = truncated = false;
        const Pos ahead = front();
        const int k = cell(ahead);
        switch (action) {
            case LEFT: dir = (dir + 3) & 3; break;
            case RIGHT: dir = (dir + 1) & 3; break;
            case FORWARD:
                if (overlaps(k)) agent = ahead;
                if (k == A_GOAL) finish(true);
                terminated |= k == A_LAVA;
                break;
            case PICKUP:
                if (is_portable(k) && !carrying) {
                    carrying = k;
                    objects[k].at = {-1, -1};
                    cell(ahead) = NOTHING;
                }
                break;
            case DROP:
                if (k == NOTHING && carrying) {
                    put(carrying, ahead);
                    carrying = NOTHING;
                }
                break;
            case TOGGLE: toggle(k, ahead); break;
            default: break;
        }
        truncated = step_count >= max_steps;
    }

    // the bytes of agent's view: image[i][j] is i cells from its left, j cells from the far side
    void observe(uint8_t* image) const {
        uint32_t seen[MAX_VIEW * MAX_VIEW];
        write_view(seen);
        const int last = view * view - 1;
        // the fourth byte is covered by the next cell
#pragma GCC unroll 8
        for (int k = 0; k < last; ++k) std::memcpy(image + 3 * k, &seen[k], 4);
        std::memcpy(image + 3 * last, &seen[last], 3);
    }

    static constexpr int MAX_VIEW = 63;  // a row of a view is a word

protected:
    // a word for each cell of the view, 0 where nothing is seen
    void write_view(uint32_t* seen) const {
        if (view == 7) {
            write_view_of<7>(seen);
        } else {
            write_view_of<0>(seen);
        }
    }

    bool is_portable(int k) const { return objects[k].type >= KEY && objects[k].type <= BOX; }

private:
    bool overlaps(int k) const {
        return k == NOTHING || k == A_GOAL || k == A_LAVA || (is(k, DOOR) && objects[k].state == OPEN_DOOR);
    }

    void toggle(int k, Pos p) {
        Object& object = objects[k];
        if (object.type == BOX) put(object.contains, p);
        if (object.type != DOOR) return;
        if (object.state == OPEN_DOOR) {
            object.state = CLOSED_DOOR;
            object.clear = 0;
        } else if (object.state == CLOSED_DOOR || (is(carrying, KEY) && objects[carrying].color == object.color)) {
            open(k);
        }
    }

    // the bits that light reaches from `lit` through neighbours in `open`, to higher bits: a carry runs through a run
    template <class Word> static Word spread_up(Word lit, Word open) {
        lit &= open;
        return open & (((open + lit) ^ open) | lit);
    }
    template <int N, class Word> static Word spread_down(Word lit, Word open) {
        lit &= open;
        for (int shift = 1; shift < (N == 7 ? 8 : 64); shift <<= 1) {
            lit |= open & (lit >> shift);
            open &= open >> shift;
        }
        return lit;
    }

    // one word for each cell of the view, its first three bytes for the image
    template <int N> void write_view_of(uint32_t* cells) const {
        using Word = std::conditional_t<N == 7, uint32_t, uint64_t>;
        const int n = N ? N : view, half = n / 2;
        const int right = DX[dir] * stride_ - DY[dir], ahead = DX[dir] + DY[dir] * stride_;
        const uint16_t* far_left = &cells_[index(agent)] + ahead * (n - 1) - right * half;
        Word clear[N ? N : MAX_VIEW], seen[N ? N : MAX_VIEW];
        for (int j = 0; j < n; ++j) {
            Word bits = 0;
#pragma GCC unroll 7
            for (int i = 0; i < n; ++i) {
                uint32_t word;
                std::memcpy(&word, &objects[far_left[right * i - ahead * j]], 4);
                cells[i * n + j] = word;
                bits |= static_cast<Word>(word >> 24) << i;
            }
            clear[j] = bits;
        }
        if (!see_through) {
            // Grid.process_vis, a row at a time: from near to far, first to the right, then to the left; a cell that is
            // lit and clear lights its neighbour, and those ahead of both
            const Word all = ~Word{0} >> (8 * sizeof(Word) - n);
            Word lit = Word{1} << half;
            for (int j = n - 1; j >= 0; --j) {
                Word source = spread_up<Word>(lit, clear[j] & (all >> 1));
                lit |= source << 1;
                Word next = source | source << 1;
                source = spread_down<N, Word>(lit, clear[j] & ~Word{1});
                lit |= source >> 1;
                next |= source | source >> 1;
                seen[j] = lit;
                lit = next;
            }
            for (int i = 0; i < n; ++i) {
#pragma GCC unroll 7
                for (int j = 0; j < n; ++j) cells[i * n + j] &= -static_cast<uint32_t>(seen[j] >> i & 1);
            }
        }
        std::memcpy(&cells[half * n + n - 1], &objects[carrying], 4);
    }

protected:
    int stride_ = 0;
    std::vector<uint16_t> cells_;
    int64_t draws_ = 0;
    mutable int64_t work_ = 0;  // but for draws
};

}  // namespace cypool::minigrid
