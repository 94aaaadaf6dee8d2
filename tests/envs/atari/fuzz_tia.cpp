// Random programs for the video chip: its registers are written at all times, frames end anywhere or not at all.
//
//     fuzz_tia FOLDER_OF_ROMS GAME FIRST LAST        (pong, or another game of 2 kB)
//
// Each program takes the place of the game's ROM and runs for 24 frames; printed is a digest of memory, both frame
// buffers and ALE's saved state, with the chip's clocks and latches. fuzz_tia.py links this once with ALE as it is and
// once with our parts: the output has to be the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "ale/ale_interface.hpp"
#include "ale/emucore/Console.hxx"
#include "ale/emucore/MediaSrc.hxx"
#include "ale/emucore/System.hxx"

namespace {

constexpr int FRAMES = 24, ROM = 2048, START = 0xF000;

// registers by their addresses
constexpr int VSYNC = 0x00, VBLANK = 0x01, WSYNC = 0x02, RSYNC = 0x03, NUSIZ0 = 0x04, COLUP0 = 0x06, CTRLPF = 0x0A;
constexpr int PF0 = 0x0D, PF1 = 0x0E, PF2 = 0x0F, RESP0 = 0x10, GRP0 = 0x1B, GRP1 = 0x1C, ENAM0 = 0x1D, ENAM1 = 0x1E;
constexpr int ENABL = 0x1F, HMP0 = 0x20, HMM0 = 0x22, VDELP0 = 0x25, HMOVE = 0x2A, HMCLR = 0x2B, CXCLR = 0x2C;
constexpr int REGISTERS = 0x2D;

class Digest {
public:
    void add(const void* data, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            value_ = (value_ ^ static_cast<const std::uint8_t*>(data)[i]) * 1099511628211u;
        }
    }
    unsigned long long value() const { return value_; }

private:
    std::uint64_t value_ = 14695981039346656037u;
};

class Program {
public:
    explicit Program(int seed) : random_(0x9E3779B97F4A7C15u * (static_cast<std::uint64_t>(seed) + 1)) {
        for (int k = 0; k < 10; ++k) below(2);
        programs_vblank_ = below(3) == 0;
        most_waits_ = 1 + below(6);
        const int size = 200 + below(1600);
        while (static_cast<int>(code_.size()) < size) add_something();
        // back to the start: by BRK, which writes three bytes, or by JMP
        if (below(2)) {
            add({0xA2, below(REGISTERS + 1), 0x9A, 0x00});  // LDX, TXS, BRK
        } else {
            add({0x4C, START & 0xFF, START >> 8});
        }
        code_.resize(ROM, 0xEA);
        for (int vector : {ROM - 4, ROM - 2}) {
            code_[vector] = START & 0xFF;
            code_[vector + 1] = START >> 8;
        }
    }
    const std::vector<std::uint8_t>& code() const { return code_; }

private:
    int below(int n) {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return static_cast<int>(static_cast<std::uint32_t>(random_ >> 32) % static_cast<std::uint32_t>(n));
    }
    // a value for a register: no bits, all bits, few bits, or any
    int value() {
        switch (below(6)) {
            case 0: return 0;
            case 1: return 255;
            case 2: return 2 * below(8);
            default: return below(256);
        }
    }
    void add(std::initializer_list<int> bytes) {
        for (int byte : bytes) code_.push_back(static_cast<std::uint8_t>(byte));
    }
    void load(int number) { add({0xA9, number}); }
    void store(int address) { add({0x85, address}); }
    void write(int address, int number) {
        load(number);
        store(address);
    }
    void nothing(int times) {
        for (int k = 0; k < times; ++k) add({0xEA});
    }
    void count_down(int from) { add({0xA2, from, 0xCA, 0xD0, 0xFD}); }  // LDX, DEX, BNE

    void add_something() {
        constexpr int SHAPES[] = {GRP0, GRP1, ENAM0, ENAM1, ENABL, PF0, PF1, PF2};
        switch (below(26)) {
            case 0:
            case 1:
            case 2: return write(SHAPES[below(8)], value());
            case 3:
            case 4: return write(COLUP0 + below(4), value());
            case 5: return write(NUSIZ0 + below(2), value());
            case 6: return write(CTRLPF + below(3), value());
            case 7:
            case 8: return store(RESP0 + below(5));
            case 9: return write(HMP0 + below(5), value());
            case 10:
                if (below(2)) store(WSYNC);
                return store(HMOVE);
            case 11: return write(VDELP0 + below(5), value());
            case 12: return store(below(2) ? HMCLR : CXCLR);
            case 13: return add({0x24, below(16)});  // BIT: reads
            case 14: return nothing(1 + below(4));
            case 15: return add({0xE6, RSYNC + below(REGISTERS - RSYNC)});  // INC: reads and writes
            case 16:
                if (programs_vblank_) write(VBLANK, below(3) ? 0 : below(256));
                return;
            case 17: return write(below(REGISTERS), value());
            case 18: return show_stars();
            case 19:
                if (below(3) == 0) count_down(below(256));
                return;
            case 20:
                // many lines: LDY, and DEY, BNE around the other loop
                if (below(40) == 0) add({0xA0, 20 + below(60), 0xA2, 0, 0xCA, 0xD0, 0xFD, 0x88, 0xD0, 0xF8});
                return;
            case 21:
                if (below(5) == 0) end_frame();
                return;
            case 22: return push_registers();
            case 23: return move_in_lines();
            default:
                for (int k = below(most_waits_); k > 0; --k) store(WSYNC);
        }
    }
    void end_frame() {
        write(VSYNC, 2);
        for (int k = below(4); k > 0; --k) store(WSYNC);
        if (below(2)) count_down(below(40));
        nothing(below(12));
        if (below(2)) add({0x24, 0x80});
        write(VSYNC, 0);
    }
    // as Cosmic Ark: missile 0 moves by itself after a change of its motion 21 cycles after HMOVE
    void show_stars() {
        write(ENAM0, 2);
        write(HMM0, 0x70);
        store(HMOVE);
        nothing(below(4) ? 8 : below(12));
        write(HMM0, 0x60);
    }
    // HMOVE in several lines, mostly where nothing moves
    void move_in_lines() {
        if (below(4)) store(HMCLR);
        for (int k = 1 + below(8); k > 0; --k) {
            if (below(8)) store(WSYNC);
            nothing(below(8) ? below(5) : below(40));
            store(HMOVE);
            if (below(6) == 0) write(GRP0 + below(2), value());
            if (below(8) == 0) add({0x24, below(16)});
        }
    }
    // the stack among the registers: each JSR, to the next instruction, writes two of them at one time
    void push_registers() {
        add({0xA2, below(REGISTERS + 1), 0x9A});  // LDX, TXS
        for (int k = below(3); k >= 0; --k) {
            const int next = START + 3 + static_cast<int>(code_.size());
            add({0x20, next & 0xFF, next >> 8});
        }
    }

    std::uint64_t random_;
    bool programs_vblank_;
    int most_waits_;
    std::vector<std::uint8_t> code_;
};

unsigned long long played(ale::ALEInterface& game, const Program& program) {
    auto& console = game.theOSystem->console();
    std::memcpy(console.system().getPageAccess(0x1000 >> 6).directPeekBase, program.code().data(), ROM);
    game.reset_game();
    Digest digest;
    const std::size_t size = game.getScreen().arraySize();
    for (int frame = 0; frame < FRAMES; ++frame) {
        game.act(frame % 3 ? ale::PLAYER_A_NOOP : ale::PLAYER_A_FIRE);
        digest.add(game.getRAM().array(), 128);
        digest.add(console.mediaSource().currentFrameBuffer(), size);
        digest.add(console.mediaSource().previousFrameBuffer(), size);
        const std::string state = game.cloneState(true).serialize();
        digest.add(state.data(), state.size());
    }
    return digest.value();
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) return 2;
    ale::Logger::setMode(ale::Logger::Error);
    ale::ALEInterface game;
    game.setFloat("repeat_action_probability", 0.f);
    game.setInt("random_seed", 0);
    game.loadROM(std::string(words[1]) + "/" + words[2] + ".bin");
    for (int seed = std::atoi(words[3]); seed < std::atoi(words[4]); ++seed) {
        std::printf("%d %016llx\n", seed, played(game, Program(seed)));
    }
}
