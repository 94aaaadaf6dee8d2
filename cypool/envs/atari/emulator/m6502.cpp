// Takes the place of ALE's M6502Low.cxx: the processor of the console, a 6502 with 13 address lines and no interrupts.
//
// The results are those of ALE, undocumented opcodes included. Why it is faster:
// - Registers, flags, and the count of instructions and cycles, which is one number, are locals of one function, so
//   that they are in the CPU's registers.
// - Opcodes and operands are read straight from the ROM, as long as the program counter stays in a window: pages that
//   are side by side in the console's memory and in ours. Whatever is not there goes through the slow copy of the
//   same function, which asks the page table for each byte. The program's tables are read there, too.
// - The zero page and the stack are found without the page table. A write to the video chip that changes nothing there
//   is no call, and others call the function of their register.
// - N and Z are kept as the number they come from.
// - Loops that wait for the timer are skipped, all but the last turn.
// - Each opcode ends with a separate jump to the next one, which a CPU predicts better than one shared by all. After
//   loads of A and counts of X and Y, a branch to the likeliest one comes first, which it predicts better still.
//
// Traps:
// - Devices read System's cycles and the byte on the bus, and TIA whether the last access was a read: all are up to
//   date whenever a device is called.
// - A device may stop the processor, waste cycles, or exchange pages under the running program.
// - A frame ends after a number of instructions too, so skipped instructions are counted. In a window only jumps look
//   at the number; the instructions that are left at the end of it run outside.
// - gcc must not vectorize this file (build.py).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "ale/emucore/CartF4.hxx"
#include "ale/emucore/CartF6.hxx"
#include "ale/emucore/CartF8.hxx"
#include "ale/emucore/CartFE.hxx"
#include "ale/emucore/Deserializer.hxx"
#include "ale/emucore/M6502Low.hxx"
#include "ale/emucore/M6532.hxx"
#include "ale/emucore/Serializer.hxx"
#include "ale/emucore/System.hxx"
#include "ale/emucore/TIA.hxx"

#define INLINE __attribute__((always_inline)) inline
#define NOINLINE __attribute__((noinline))

namespace {

using ale::stella::CartridgeF4;
using ale::stella::CartridgeF6;
using ale::stella::CartridgeF8;
using ale::stella::CartridgeFE;
using ale::stella::M6532;
using ale::stella::System;
using ale::stella::TIA;
using Page = System::PageAccess;

static_assert(std::endian::native == std::endian::little, "as in the program, the low byte comes first");

// the devices of the processor
struct Board {
    static constexpr unsigned kAddresses = 0x1fff, kPageSize = 64, kNumPages = 128;
    static constexpr unsigned kLongestWindow = 0x1000, kPlainBytes = 0x34, kCycleBits = 24;

    const Page* pages;  // 128 of 64 bytes
    uint8_t* ram;       // its 128 bytes are at 0x80 of the zero page, and again at 0x80 of the stack
    uint32_t& cycles;
    uint8_t& bus;
    bool& last_was_read;
    const uint8_t& status;  // not 0: the processor has to stop
    TIA* video;             // below 0x80, and again at the stack; null if a cartridge listens there too
    M6532& timer;
    const uint8_t* program;  // of a cartridge that shows one of two banks according to the address; else null
    // of a cartridge that switches banks in the last page, whose bytes before that are as in other pages
    const bool plain_last_page;
    const int& page_changes;
    int pages_seen;        // the number of changes when the window was found
    const uint32_t began;  // the cycles when the processor was started
    // when it stops, and up to when it works in a window, where only jumps look; as Registers counts
    const uint64_t limit, window_limit;

    // the window, in our memory: opcodes at start <= at < end have their operands there too. Addresses are numbers, as
    // the program may leave it; the program counter is `at` less `origin`
    uintptr_t start = 0, end = 0, size = 0, origin = 0;

    const Page& page(unsigned address) const { return pages[(address & kAddresses) / kPageSize]; }

    bool in_window(uintptr_t at) const { return at - start < size; }
    void close_window() {
        size = 0;
        end = start;
    }

    // looks for the window around the program counter; false: there is none, or it is too late for one
    NOINLINE bool find_window(unsigned pc, uint64_t ran) {
        pages_seen = page_changes;
        close_window();
        if (ran >= window_limit) return false;
        const Page* const here = &page(pc);
        if (plain_last_page && pc & 0x1000) {
            open_window(pages[kNumPages / 2].directPeekBase, pc & 0xf000, 0x1000 - kPageSize + kPlainBytes);
        } else if (here->directPeekBase) {
            const Page *first = here, *last = here;
            while (first != pages && (first - 1)->directPeekBase == first->directPeekBase - kPageSize) --first;
            while (last != pages + kNumPages - 1 && (last + 1)->directPeekBase == last->directPeekBase + kPageSize)
                ++last;
            open_window(first->directPeekBase, (pc & 0xe000) + static_cast<unsigned>(first - pages) * kPageSize,
                        static_cast<unsigned>(last + 1 - first) * kPageSize);
        } else if (program && pc & 0x1000) {
            // the bank is chosen by the address, so there are no pages to look at
            open_window(program + (pc & 0x2000 ? 0 : 0x1000), pc & 0xf000, 0x1000);
        }
        return in_window(origin + pc);
    }
    bool done(uint64_t ran) const { return status || ran >= limit; }
    void open_window(const uint8_t* code, unsigned address, unsigned bytes) {
        start = reinterpret_cast<uintptr_t>(code);
        size = std::min(bytes, kLongestWindow) - 2;
        end = start + size;
        origin = start - address;
    }

    NOINLINE unsigned read_device(unsigned address, uint32_t now, unsigned last_byte) {
        const unsigned in_last_page = (address & kAddresses) - (kNumPages - 1) * kPageSize;
        if (plain_last_page && in_last_page < kPlainBytes)
            return pages[kNumPages - 2].directPeekBase[kPageSize + in_last_page];
        cycles = now;
        bus = static_cast<uint8_t>(last_byte);
        const unsigned value = page(address).device->peek(static_cast<uint16_t>(address));
        if (pages_seen != page_changes) close_window();
        return value;
    }
    // returns the cycles that it takes more
    NOINLINE uint32_t write_device(unsigned address, unsigned value, uint32_t now, unsigned last_byte) {
        cycles = now;
        bus = static_cast<uint8_t>(last_byte);
        page(address).device->poke(static_cast<uint16_t>(address), static_cast<uint8_t>(value));
        if (pages_seen != page_changes || status) close_window();
        return cycles - now;
    }

    // At a branch back by 5 that was taken: how many turns of the loop it will be taken again for certain, since all
    // that the loop does is to read the timer. The turn after them is left to be run: it sets all that they would set.
    NOINLINE unsigned polls(uintptr_t at, unsigned branch_cycles, uint32_t now, uint64_t ran) {
        if (!in_window(at) || ran >= limit) return 0;
        const uint8_t* const loop = reinterpret_cast<const uint8_t*>(at);
        const unsigned opcode = loop[0], address = loop[1] | loop[2] << 8;
        if ((address & 0x1284) != 0x0284) return 0;
        const bool load = opcode == 0xad || opcode == 0xae || opcode == 0xac;  // to A, X or Y
        // the timer holds set - 1 - delta / interval, and continues below 0 in another way
        const unsigned set = timer.myTimer, shift = timer.myIntervalShift;
        const uint32_t delta = now + 4 - 1 - static_cast<uint32_t>(timer.myCyclesWhenTimerSet);
        unsigned until;  // the number of intervals for which the branch is taken
        if (load && !(address & 1)) {
            switch (loop[3]) {
                case 0xd0: until = set ? set - 1 : 0; break;                           // while not 0
                case 0x30: until = set > 128 ? set - 128 : 0; break;                   // while negative
                case 0x10: until = set - 1 - (delta >> shift) < 128 ? set : 0; break;  // while not negative
                default: return 0;
            }
        } else if (opcode == 0x2c && (address & 1) && loop[3] == 0x10) {  // while not below 0
            until = set;
        } else {
            return 0;
        }
        const uint32_t enough = until << shift;
        if (delta >= enough) return 0;
        const unsigned turn = 4 + branch_cycles, turns = (enough - delta + turn - 1) / turn;
        const auto left = static_cast<unsigned>((limit >> kCycleBits) - (ran >> kCycleBits));
        return std::min(turns, (left - 1) / 2);
    }
};

bool has_plain_last_page(const ale::stella::Device* device) {
    return dynamic_cast<const CartridgeF8*>(device) || dynamic_cast<const CartridgeF6*>(device)
           || dynamic_cast<const CartridgeF4*>(device);
}

// addresses: of the zero page, of the stack (its low byte), any
struct Zero {
    unsigned at;
};
struct Stack {
    unsigned at;
};
struct Any {
    unsigned at;
};

// a byte between its two notations. ALE has a table for each, side by side: below the second it reads the first
constexpr unsigned binary_of(unsigned bcd) { return (bcd >> 4) * 10 + (bcd & 15); }
constexpr unsigned bcd_of(int value) {
    if (value < 0) return binary_of(static_cast<unsigned>(256 + value));
    const unsigned low = static_cast<unsigned>(value) % 100;
    return low / 10 << 4 | low % 10;
}

struct Registers {
    unsigned pc, a, x, y, sp, opcode;
    unsigned nz;             // N: bit 7 or 15 is set; Z: the low 8 bits are 0
    unsigned v, b, d, i, c;  // 0 or 1
    unsigned bus;            // the byte that was on the data bus last
    uint64_t ran;            // since the processor was started: instructions, and in the low bits cycles

    static constexpr uint64_t kInstruction = uint64_t{1} << Board::kCycleBits;

    unsigned flags() const {
        const unsigned n = (nz & 0x8080) != 0, z = (nz & 0xff) == 0;
        return n << 7 | v << 6 | 0x20 | b << 4 | d << 3 | i << 2 | z << 1 | c;
    }
    void set_flags(unsigned flags) {
        nz = (flags & 0x80) << 8 | (~flags >> 1 & 1);
        v = flags >> 6 & 1;
        b = 1;  // always set in this processor
        d = flags >> 3 & 1;
        i = flags >> 2 & 1;
        c = flags & 1;
    }
};

// the processor at work: the opcode that runs lies in the window, or not
template <bool kWindow> struct Core : Registers {
    Board& board;
    uintptr_t at;  // in the window: where the program is; not `pc`

    Core(const Registers& registers, Board& connected)
        : Registers(registers),
          board(connected),
          at(connected.origin + pc) {}

    INLINE uint32_t now() const { return board.began + static_cast<uint32_t>(ran % kInstruction); }
    INLINE unsigned counter() const { return kWindow ? static_cast<unsigned>(at - board.origin) & 0xffff : pc; }
    INLINE void jump(unsigned to) {
        if constexpr (kWindow)
            at = board.origin + to;
        else
            pc = to;
    }

    // ---- memory

    INLINE unsigned read(Any address) {
        if constexpr (!kWindow) return read_anywhere(address.at);
        // mostly a table of the program, which needs no page table
        const uintptr_t place = board.origin + address.at;
        if (board.in_window(place)) [[likely]]
            return bus = *reinterpret_cast<const uint8_t*>(place);
        const uint8_t* const base = board.page(address.at).directPeekBase;
        if (base) [[likely]]
            return bus = base[address.at % Board::kPageSize];
        return bus = board.read_device(address.at, now(), bus);
    }
    INLINE unsigned read(Zero address) { return read_low(address.at, 0); }
    INLINE unsigned read(Stack address) { return read_low(address.at, 0x100); }
    INLINE unsigned read_low(unsigned at, unsigned page) {
        if constexpr (!kWindow) return read_anywhere(page + at);
        if (at & 0x80) [[likely]]
            return bus = board.ram[at];
        return bus = board.read_device(page + at, now(), bus);
    }
    // out of line, which makes the slow copy a small one
    NOINLINE unsigned read_anywhere(unsigned address) {
        const uint8_t* const base = board.page(address).directPeekBase;
        return bus = base ? base[address % Board::kPageSize] : board.read_device(address, now(), bus);
    }

    INLINE void write(Any address, unsigned value) {
        if constexpr (!kWindow) return write_anywhere(address.at, value);
        uint8_t* const base = board.page(address.at).directPokeBase;
        if (base) [[likely]]
            base[address.at % Board::kPageSize] = static_cast<uint8_t>(value);
        else
            write_device(address.at, value);
        bus = value;
    }
    INLINE void write(Zero address, unsigned value) { write_low(address.at, 0, value); }
    INLINE void write(Stack address, unsigned value) { write_low(address.at, 0x100, value); }
    INLINE void write_low(unsigned at, unsigned page, unsigned value) {
        if constexpr (!kWindow) return write_anywhere(page + at, value);
        if (at & 0x80) [[likely]]
            board.ram[at] = static_cast<uint8_t>(value);
        else if (!board.video || !write_video(at & 0x3f, value))
            write_device(page + at, value);
        bus = value;
    }
    NOINLINE void write_anywhere(unsigned address, unsigned value) {
        uint8_t* const base = board.page(address).directPokeBase;
        if (base)
            base[address % Board::kPageSize] = static_cast<uint8_t>(value);
        else
            write_device(address, value);
        bus = value;
    }
    // to registers of the video chip that leave the cycles and the processor alone; false: it has to be done otherwise
    INLINE bool write_video(unsigned address, unsigned value) {
        const uint32_t before = now();
        if (board.video->poke_again(address, value, before)) {
            if (address == TIA::WSYNC && board.last_was_read) ran += board.video->cycles_to_line_end(before);
            return true;
        }
        if (address <= TIA::WSYNC || !board.video->in_time(before)) [[unlikely]]
            return false;
        board.cycles = before;
        board.video->poke_at(address, static_cast<uint8_t>(value), before);
        return true;
    }
    INLINE void write_device(unsigned address, unsigned value) {
        ran += board.write_device(address, value, now(), bus);
    }

    INLINE void push(unsigned value) {
        write(Stack{sp}, value);
        sp = (sp - 1) & 0xff;
    }
    // after another push, which was a write
    INLINE void push_again(unsigned value) {
        if (kWindow && sp & 0x80) [[likely]]
            return push(value);  // to memory, where no device reads it
        board.last_was_read = false;
        push(value);
        board.last_was_read = true;
    }
    INLINE unsigned pop() {
        sp = (sp + 1) & 0xff;
        return read(Stack{sp});
    }

    // ---- where operands are

    INLINE unsigned next() {
        if constexpr (kWindow) {
            return bus = *reinterpret_cast<const uint8_t*>(at++);
        }
        const unsigned address = pc;
        pc = (pc + 1) & 0xffff;
        return read_anywhere(address);
    }
    INLINE unsigned next_word() {
        if constexpr (kWindow) {
            uint16_t word;
            std::memcpy(&word, reinterpret_cast<const uint8_t*>(at), 2);
            at += 2;
            bus = word >> 8;
            return word;
        }
        const unsigned low = next();
        return low | next() << 8;
    }
    // the pointer's second byte is not taken from the start of the zero page where it ends there
    INLINE unsigned pointer(unsigned at) {
        const unsigned low = read(Zero{at});
        return low | (at == 0xff ? read(Stack{0}) : read(Zero{at + 1})) << 8;
    }
    INLINE Any indexed(unsigned base, unsigned index) { return {(base + index) & 0xffff}; }
    // a read from another page than the base's takes a cycle more
    INLINE Any indexed_read(unsigned base, unsigned index) {
        ran += ((base ^ (base + index)) & 0xff00) != 0;
        return indexed(base, index);
    }

    INLINE unsigned imm() { return next(); }
    INLINE Zero zp() { return {next()}; }
    INLINE Zero zp_x() { return {(next() + x) & 0xff}; }
    INLINE Zero zp_y() { return {(next() + y) & 0xff}; }
    INLINE Any abs() { return {next_word()}; }
    INLINE Any abs_x() { return indexed(next_word(), x); }
    INLINE Any abs_y() { return indexed(next_word(), y); }
    INLINE Any abs_x_read() { return indexed_read(next_word(), x); }
    INLINE Any abs_y_read() { return indexed_read(next_word(), y); }
    INLINE Any ind_x() { return {pointer((next() + x) & 0xff)}; }
    INLINE Any ind_y() { return indexed(pointer(next()), y); }
    INLINE Any ind_y_read() { return indexed_read(pointer(next()), y); }

    // ---- instructions; `m` is an operand

    INLINE void lda(unsigned m) { nz = a = m; }
    INLINE void ldx(unsigned m) { nz = x = m; }
    INLINE void ldy(unsigned m) { nz = y = m; }
    INLINE void ora(unsigned m) { nz = a |= m; }
    INLINE void and_(unsigned m) { nz = a &= m; }
    INLINE void eor(unsigned m) { nz = a ^= m; }
    INLINE void compare(unsigned with, unsigned m) {
        c = with >= m;
        nz = (with - m) & 0xff;
    }
    INLINE void cmp(unsigned m) { compare(a, m); }
    INLINE void bit(unsigned m) {
        nz = (a & m) | (m & 0x80) << 8;
        v = m >> 6 & 1;
    }
    INLINE void add(unsigned m) {
        const unsigned sum = a + m + c;
        v = (~(a ^ m) & (a ^ sum)) >> 7 & 1;
        c = sum >> 8;
        nz = a = sum & 0xff;
    }
    INLINE void adc(unsigned m) {
        if (!d) [[likely]]
            return add(m);
        const unsigned old = a, sum = binary_of(a) + binary_of(m) + c;
        c = sum > 99;
        nz = a = bcd_of(static_cast<int>(sum & 0xff));
        v = ((old ^ a) & (a ^ m)) >> 7 & 1;
    }
    INLINE void sbc(unsigned m) {
        if (!d) [[likely]]
            return add(m ^ 0xff);
        const unsigned old = a, borrow = 1 - c;
        const int difference = static_cast<int>(binary_of(a)) - static_cast<int>(binary_of(m) + borrow);
        nz = a = bcd_of(difference < 0 ? difference + 100 : difference);
        c = old >= m + borrow;
        v = ((old ^ a) & (a ^ m)) >> 7 & 1;
    }

    // shifts return their result, as other instructions do that are for memory and for A
    INLINE unsigned asl(unsigned m) {
        c = m >> 7;
        return nz = m << 1 & 0xff;
    }
    INLINE unsigned lsr(unsigned m) {
        c = m & 1;
        return nz = m >> 1;
    }
    INLINE unsigned rol(unsigned m) {
        const unsigned result = (m << 1 | c) & 0xff;
        c = m >> 7;
        return nz = result;
    }
    INLINE unsigned ror(unsigned m) {
        const unsigned result = m >> 1 | c << 7;
        c = m & 1;
        return nz = result;
    }
    INLINE unsigned inc(unsigned m) { return nz = (m + 1) & 0xff; }
    INLINE unsigned dec(unsigned m) { return nz = (m - 1) & 0xff; }

    // reads, changes and writes a byte of memory; returns the written value
    template <unsigned (Core::*change)(unsigned), class Address> INLINE unsigned modify(Address address) {
        const unsigned result = (this->*change)(read(address));
        write(address, result);
        return result;
    }

    template <class Address> INLINE void asl_at(Address address) { modify<&Core::asl>(address); }
    template <class Address> INLINE void lsr_at(Address address) { modify<&Core::lsr>(address); }
    template <class Address> INLINE void rol_at(Address address) { modify<&Core::rol>(address); }
    template <class Address> INLINE void ror_at(Address address) { modify<&Core::ror>(address); }
    template <class Address> INLINE void inc_at(Address address) { modify<&Core::inc>(address); }
    template <class Address> INLINE void dec_at(Address address) { modify<&Core::dec>(address); }

    INLINE void branch(bool taken) {
        const auto offset = static_cast<int8_t>(next());
        if (!taken) return;
        const unsigned from = counter();
        // one more to another page
        const unsigned cost = 1 + ((from % 256 + static_cast<unsigned>(offset)) / 256 & 1);
        ran += cost;
        if (kWindow && offset == -5) {
            ran += board.polls(at - 5, 2 + cost, now(), ran) * (2 * kInstruction + 4 + 2 + cost);
        }
        // beyond the ends of all addresses is beyond the window's, too
        if constexpr (kWindow)
            at += static_cast<uintptr_t>(offset);
        else
            pc = (from + static_cast<unsigned>(offset)) & 0xffff;
    }
    INLINE void jmp_indirect() {
        const unsigned where = next_word();
        const unsigned low = read(Any{where});
        jump(low | read(Any{(where & 0xff) == 0xff ? where & 0xff00 : where + 1}) << 8);
    }
    INLINE void jsr() {
        const unsigned low = next(), from = counter();
        read(Stack{sp});
        push(from >> 8);
        push_again(from & 0xff);
        jump(low | read(Any{from}) << 8);  // a push may have exchanged pages
    }
    INLINE void rts() {
        read(Stack{sp});
        const unsigned low = pop(), to = low | pop() << 8;
        read(Any{to});
        jump((to + 1) & 0xffff);
    }
    INLINE void rti() {
        read(Stack{sp});
        set_flags(pop());
        const unsigned low = pop();
        jump(low | pop() << 8);
    }
    INLINE void brk() {
        next();
        const unsigned from = counter();
        b = 1;
        push(from >> 8);
        push_again(from & 0xff);
        push_again(flags());
        i = 1;
        const unsigned low = read(Any{0xfffe});
        jump(low | read(Any{0xffff}) << 8);
    }
    INLINE void pla() {
        read(Stack{sp});
        lda(pop());
    }
    INLINE void plp() {
        read(Stack{sp});
        set_flags(pop());
    }

    // ---- undocumented instructions

    INLINE void anc(unsigned m) {
        and_(m);
        c = a >> 7;
    }
    INLINE void asr(unsigned m) { a = lsr(a & m); }
    INLINE void arr(unsigned m) {
        const unsigned both = a & m, carry = c;
        nz = a = both >> 1 | carry << 7;
        if (!d) {
            c = a >> 6 & 1;
            v = (a >> 6 ^ a >> 5) & 1;
            return;
        }
        v = (both ^ a) >> 6 & 1;
        if ((both & 0x0f) + (both & 0x01) > 0x05) a = (a & 0xf0) | ((a + 0x06) & 0x0f);
        c = (both & 0xf0) + (both & 0x10) > 0x50;
        if (c) a = (a + 0x60) & 0xff;
    }
    INLINE void ane(unsigned m) { nz = a = (a | 0xee) & x & m; }
    INLINE void lax(unsigned m) { nz = a = x = m; }
    INLINE void lxa(unsigned m) { nz = a = x = (a | 0xee) & m; }
    INLINE void las(unsigned m) { nz = a = x = sp = sp & m; }
    INLINE void sbx(unsigned m) {
        const unsigned both = a & x;
        c = both >= m;
        nz = x = (both - m) & 0xff;
    }
    // stores some registers, combined by AND with one more than the address' high byte
    INLINE void store_with_high(Any address, unsigned value) { write(address, value & ((address.at >> 8) + 1)); }
    template <class Address> INLINE void slo(Address address) { ora(modify<&Core::asl>(address)); }
    template <class Address> INLINE void rla(Address address) { and_(modify<&Core::rol>(address)); }
    template <class Address> INLINE void sre(Address address) { eor(modify<&Core::lsr>(address)); }
    template <class Address> INLINE void rra(Address address) { adc(modify<&Core::ror>(address)); }
    template <class Address> INLINE void dcp(Address address) { compare(a, modify<&Core::dec>(address)); }
    template <class Address> INLINE void isb(Address address) { sbc(modify<&Core::inc>(address)); }
};

// Runs instructions that lie in the window, or those that do not; at least one, until the next one is of the other
// kind or none are left. Returns false at an illegal one.
template <bool kWindow> bool run(Registers& registers, Board& board) {
#define ROW(high)                                                                                                   \
    &&op_##high##0, &&op_##high##1, &&op_##high##2, &&op_##high##3, &&op_##high##4, &&op_##high##5, &&op_##high##6, \
        &&op_##high##7, &&op_##high##8, &&op_##high##9, &&op_##high##A, &&op_##high##B, &&op_##high##C,             \
        &&op_##high##D, &&op_##high##E, &&op_##high##F
    static const void* const labels[256] = {ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7),
                                            ROW(8), ROW(9), ROW(A), ROW(B), ROW(C), ROW(D), ROW(E), ROW(F)};
#undef ROW
    Core<kWindow> p(registers, board);
    bool legal = true;

// an instruction: its opcode, its cycles, its code
#define OP(code, number, ...) INSTRUCTION(code, number, p.at < board.end, goto * labels[p.next()], __VA_ARGS__)
// one that a certain other mostly follows
#define OP_BEFORE(likely, code, number, ...)            \
    INSTRUCTION(                                        \
        code, number, p.at < board.end,                 \
        {                                               \
            const unsigned opcode = p.next();           \
            if (opcode == 0x##likely) goto op_##likely; \
            goto* labels[opcode];                       \
        },                                              \
        __VA_ARGS__)
// one that may go back; a window has fewer instructions than are left when it is entered or a jump in it is taken
#define JUMP(code, number, ...) \
    INSTRUCTION(code, number, board.in_window(p.at) && p.ran < board.window_limit, goto * labels[p.next()], __VA_ARGS__)
// the opcode is on the bus: so neither has to be kept from one instruction to the next
#define INSTRUCTION(code, number, inside, go, ...) \
    op_##code : p.opcode = p.bus = 0x##code;       \
    p.ran += Registers::kInstruction + (number);   \
    __VA_ARGS__;                                   \
    if constexpr (!kWindow) goto next;             \
    if (!(inside)) [[unlikely]]                    \
        goto out;                                  \
    go;

first:
    goto* labels[p.next()];
next:
    __attribute__((unused));
    if (board.done(p.ran) || board.find_window(p.pc, p.ran)) goto out;
    goto first;

// eight ways to read: opcodes x1, x5, x9, xD of an even row and the odd one below it
#define READS(even, odd, name)                    \
    OP(even##1, 6, p.name(p.read(p.ind_x())))     \
    OP(even##5, 3, p.name(p.read(p.zp())))        \
    OP(even##9, 2, p.name(p.imm()))               \
    OP(even##D, 4, p.name(p.read(p.abs())))       \
    OP(odd##1, 5, p.name(p.read(p.ind_y_read()))) \
    OP(odd##5, 4, p.name(p.read(p.zp_x())))       \
    OP(odd##9, 4, p.name(p.read(p.abs_y_read()))) \
    OP(odd##D, 4, p.name(p.read(p.abs_x_read())))
    READS(0, 1, ora)
    READS(2, 3, and_)
    READS(4, 5, eor)
    READS(6, 7, adc)
    OP(A1, 6, p.lda(p.read(p.ind_x())))
    OP_BEFORE(85, A5, 3, p.lda(p.read(p.zp())))
    OP_BEFORE(85, A9, 2, p.lda(p.imm()))
    OP_BEFORE(85, AD, 4, p.lda(p.read(p.abs())))
    OP_BEFORE(85, B1, 5, p.lda(p.read(p.ind_y_read())))
    OP_BEFORE(85, B5, 4, p.lda(p.read(p.zp_x())))
    OP_BEFORE(85, B9, 4, p.lda(p.read(p.abs_y_read())))
    OP_BEFORE(85, BD, 4, p.lda(p.read(p.abs_x_read())))
    READS(C, D, cmp)
    READS(E, F, sbc)

// four ways to change a byte of memory: x6 and xE
#define CHANGES(even, odd, name)    \
    OP(even##6, 5, p.name(p.zp()))  \
    OP(even##E, 6, p.name(p.abs())) \
    OP(odd##6, 6, p.name(p.zp_x())) \
    OP(odd##E, 7, p.name(p.abs_x()))
    CHANGES(0, 1, asl_at)
    CHANGES(2, 3, rol_at)
    CHANGES(4, 5, lsr_at)
    CHANGES(6, 7, ror_at)
    CHANGES(C, D, dec_at)
    CHANGES(E, F, inc_at)

// the two at once, undocumented: x3, x7, xB and xF
#define CHANGES_AND_USES(even, odd, name) \
    OP(even##3, 8, p.name(p.ind_x()))     \
    OP(even##7, 5, p.name(p.zp()))        \
    OP(even##F, 6, p.name(p.abs()))       \
    OP(odd##3, 8, p.name(p.ind_y()))      \
    OP(odd##7, 6, p.name(p.zp_x()))       \
    OP(odd##B, 7, p.name(p.abs_y()))      \
    OP(odd##F, 7, p.name(p.abs_x()))
    CHANGES_AND_USES(0, 1, slo)
    CHANGES_AND_USES(2, 3, rla)
    CHANGES_AND_USES(4, 5, sre)
    CHANGES_AND_USES(6, 7, rra)
    CHANGES_AND_USES(C, D, dcp)
    CHANGES_AND_USES(E, F, isb)

    // loads and stores of single registers, and of two
    OP(A0, 2, p.ldy(p.imm()))
    OP(A4, 3, p.ldy(p.read(p.zp())))
    OP(AC, 4, p.ldy(p.read(p.abs())))
    OP(B4, 4, p.ldy(p.read(p.zp_x())))
    OP(BC, 4, p.ldy(p.read(p.abs_x_read())))
    OP(A2, 2, p.ldx(p.imm()))
    OP(A6, 3, p.ldx(p.read(p.zp())))
    OP(AE, 4, p.ldx(p.read(p.abs())))
    OP(B6, 4, p.ldx(p.read(p.zp_y())))
    OP(BE, 4, p.ldx(p.read(p.abs_y_read())))
    OP(A3, 6, p.lax(p.read(p.ind_x())))
    OP(A7, 4, p.lax(p.read(p.zp())))  // a cycle too many, but so it is in ALE
    OP(AF, 4, p.lax(p.read(p.abs())))
    OP(B3, 5, p.lax(p.read(p.ind_y_read())))
    OP(B7, 4, p.lax(p.read(p.zp_y())))
    OP(BF, 4, p.lax(p.read(p.abs_y_read())))
    OP(81, 6, p.write(p.ind_x(), p.a))
    OP(85, 3, p.write(p.zp(), p.a))
    OP(8D, 4, p.write(p.abs(), p.a))
    OP(91, 6, p.write(p.ind_y(), p.a))
    OP(95, 4, p.write(p.zp_x(), p.a))
    OP(99, 5, p.write(p.abs_y(), p.a))
    OP(9D, 5, p.write(p.abs_x(), p.a))
    OP(84, 3, p.write(p.zp(), p.y))
    OP(8C, 4, p.write(p.abs(), p.y))
    OP(94, 4, p.write(p.zp_x(), p.y))
    OP(86, 3, p.write(p.zp(), p.x))
    OP(8E, 4, p.write(p.abs(), p.x))
    OP(96, 4, p.write(p.zp_y(), p.x))
    OP(83, 6, p.write(p.ind_x(), p.a & p.x))
    OP(87, 3, p.write(p.zp(), p.a & p.x))
    OP(8F, 4, p.write(p.abs(), p.a & p.x))
    OP(97, 4, p.write(p.zp_y(), p.a & p.x))
    OP(93, 6, p.store_with_high(p.ind_y(), p.a & p.x))
    OP(9F, 5, p.store_with_high(p.abs_y(), p.a & p.x))
    OP(9E, 5, p.store_with_high(p.abs_y(), p.x))
    OP(9C, 5, p.store_with_high(p.abs_x(), p.y))
    OP(9B, 5, p.sp = p.a & p.x; p.store_with_high(p.abs_y(), p.sp))

    // registers
    OP(AA, 2, p.ldx(p.a))
    OP(A8, 2, p.ldy(p.a))
    OP(BA, 2, p.ldx(p.sp))
    OP(8A, 2, p.lda(p.x))
    OP(98, 2, p.lda(p.y))
    OP(9A, 2, p.sp = p.x)
    OP_BEFORE(D0, CA, 2, p.x = p.dec(p.x))
    OP_BEFORE(D0, 88, 2, p.y = p.dec(p.y))
    OP_BEFORE(D0, E8, 2, p.x = p.inc(p.x))
    OP_BEFORE(D0, C8, 2, p.y = p.inc(p.y))
    OP(0A, 2, p.a = p.asl(p.a))
    OP(2A, 2, p.a = p.rol(p.a))
    OP(4A, 2, p.a = p.lsr(p.a))
    OP(6A, 2, p.a = p.ror(p.a))
    OP(C0, 2, p.compare(p.y, p.imm()))
    OP(C4, 3, p.compare(p.y, p.read(p.zp())))
    OP(CC, 4, p.compare(p.y, p.read(p.abs())))
    OP(E0, 2, p.compare(p.x, p.imm()))
    OP(E4, 3, p.compare(p.x, p.read(p.zp())))
    OP(EC, 4, p.compare(p.x, p.read(p.abs())))
    OP(24, 3, p.bit(p.read(p.zp())))
    OP(2C, 4, p.bit(p.read(p.abs())))

    // flags
    OP(18, 2, p.c = 0)
    OP(38, 2, p.c = 1)
    OP(58, 2, p.i = 0)
    OP(78, 2, p.i = 1)
    OP(B8, 2, p.v = 0)
    OP(D8, 2, p.d = 0)
    OP(F8, 2, p.d = 1)

    // where to continue
    JUMP(10, 2, p.branch(!(p.nz & 0x8080)))
    JUMP(30, 2, p.branch(p.nz & 0x8080))
    JUMP(50, 2, p.branch(!p.v))
    JUMP(70, 2, p.branch(p.v))
    JUMP(90, 2, p.branch(!p.c))
    JUMP(B0, 2, p.branch(p.c))
    JUMP(D0, 2, p.branch(p.nz & 0xff))
    JUMP(F0, 2, p.branch(!(p.nz & 0xff)))
    JUMP(4C, 3, p.jump(p.next_word()))
    JUMP(6C, 5, p.jmp_indirect())
    JUMP(20, 6, p.jsr())
    JUMP(60, 6, p.rts())
    JUMP(40, 6, p.rti())
    JUMP(00, 7, p.brk())

    // the stack
    OP(48, 3, p.push(p.a))
    OP(08, 3, p.push(p.flags()))
    OP(68, 4, p.pla())
    OP(28, 4, p.plp())

    // more that is undocumented
    OP(0B, 2, p.anc(p.imm()))
    OP(2B, 2, p.anc(p.imm()))
    OP(4B, 2, p.asr(p.imm()))
    OP(6B, 2, p.arr(p.imm()))
    OP(8B, 2, p.ane(p.imm()))
    OP(AB, 2, p.lxa(p.imm()))
    OP(BB, 4, p.las(p.read(p.abs_y_read())))
    OP(CB, 2, p.sbx(p.imm()))
    OP(EB, 2, p.sbc(p.imm()))

    // nothing, but some of them read
#define NOPS(row)                   \
    OP(row##4, 4, p.read(p.zp_x())) \
    OP(row##A, 2, )                 \
    OP(row##C, 4, p.read(p.abs_x_read()))
    NOPS(1)
    NOPS(3)
    NOPS(5)
    NOPS(7)
    NOPS(D)
    NOPS(F)
    OP(EA, 2, )
    OP(04, 3, p.read(p.zp()))
    OP(44, 3, p.read(p.zp()))
    OP(64, 3, p.read(p.zp()))
    OP(0C, 4, p.read(p.abs()))
    OP(80, 2, p.imm())
    OP(82, 2, p.imm())
    OP(89, 2, p.imm())
    OP(C2, 2, p.imm())
    OP(E2, 2, p.imm())

#define ILLEGAL(code)                        \
    op_##code : p.opcode = p.bus = 0x##code; \
    goto illegal;
    ILLEGAL(02)
    ILLEGAL(12)
    ILLEGAL(22)
    ILLEGAL(32)
    ILLEGAL(42)
    ILLEGAL(52)
    ILLEGAL(62)
    ILLEGAL(72)
    ILLEGAL(92)
    ILLEGAL(B2)
    ILLEGAL(D2)
    ILLEGAL(F2)

illegal:
    p.ran += Registers::kInstruction + 2;
    legal = false;
out:
    p.pc = p.counter();
    registers = p;
    return legal;
#undef OP
#undef OP_BEFORE
#undef JUMP
#undef INSTRUCTION
#undef READS
#undef CHANGES
#undef CHANGES_AND_USES
#undef NOPS
#undef ILLEGAL
}

}  // namespace

namespace ale::stella {

M6502Low::M6502Low(uint32_t cycle_multiplier) : M6502(cycle_multiplier) {
    if (cycle_multiplier != 1) throw std::logic_error("expected one cycle of the system in one of the processor");
}

M6502Low::~M6502Low() = default;

const char* M6502Low::name() const { return "M6502Low"; }

bool M6502Low::execute(uint32_t number) {
    myExecutionStatus &= FatalErrorBit;
    if (myExecutionStatus) return false;
    if (number == 0) return true;
    System& system = *mySystem;
    const Page* const pages = &system.getPageAccess(0);
    auto* const fe = dynamic_cast<CartridgeFE*>(pages[0x1000 / Board::kPageSize].device);
    Board board{
        .pages = pages,
        .ram = pages[0x80 / Board::kPageSize].directPokeBase - 0x80,
        .cycles = system.myCycles,
        .bus = system.myDataBusState,
        .last_was_read = myLastAccessWasRead,
        .status = myExecutionStatus,
        .video = pages[0].device == &system.tia() && pages[0x100 / Board::kPageSize].device == &system.tia()
                     ? &system.tia()
                     : nullptr,
        .timer = static_cast<M6532&>(*pages[0x280 / Board::kPageSize].device),
        .program = fe ? fe->myImage : nullptr,
        .plain_last_page = has_plain_last_page(pages[Board::kNumPages - 1].device),
        .page_changes = myTotalInstructionCount,
        .pages_seen = 0,
        .began = system.myCycles,
        .limit = uint64_t{number} << Board::kCycleBits,
        .window_limit = uint64_t{number - std::min(number, Board::kLongestWindow)} << Board::kCycleBits,
    };
    Registers registers{
        .pc = PC,
        .a = A,
        .x = X,
        .y = Y,
        .sp = SP,
        .opcode = IR,
        .nz = (N ? 0x8000u : 0u) | notZ,
        .v = V,
        .b = B,
        .d = D,
        .i = I,
        .c = C,
        .bus = board.bus,
        .ran = 0,
    };
    // each instruction begins with a read
    myLastAccessWasRead = true;
    bool legal = true;
    while (legal && !board.done(registers.ran)) {
        legal =
            board.find_window(registers.pc, registers.ran) ? run<true>(registers, board) : run<false>(registers, board);
    }
    A = static_cast<uint8_t>(registers.a);
    X = static_cast<uint8_t>(registers.x);
    Y = static_cast<uint8_t>(registers.y);
    SP = static_cast<uint8_t>(registers.sp);
    IR = static_cast<uint8_t>(registers.opcode);
    PC = static_cast<uint16_t>(registers.pc);
    N = registers.nz & 0x8080;
    notZ = registers.nz & 0xff;
    V = registers.v;
    B = registers.b;
    D = registers.d;
    I = registers.i;
    C = registers.c;
    board.bus = static_cast<uint8_t>(registers.bus);
    board.cycles = board.began + static_cast<uint32_t>(registers.ran % Registers::kInstruction);
    if (!legal) {
        myExecutionStatus |= FatalErrorBit;
        std::fprintf(stderr, "Atari: illegal instruction %02x\n", IR);
    }
    return !(myExecutionStatus & FatalErrorBit) || (myExecutionStatus & StopExecutionBit);
}

// in the order that ALE's states have
bool M6502Low::save(Serializer& out) {
    out.putString(name());
    for (const int value : {int{A}, int{X}, int{Y}, int{SP}, int{IR}, int{PC}}) out.putInt(value);
    for (const bool flag : {N, V, B, D, I, notZ, C}) out.putBool(flag);
    out.putInt(myExecutionStatus);
    return true;
}

bool M6502Low::load(Deserializer& in) {
    if (in.getString() != name()) return false;
    for (uint8_t* const value : {&A, &X, &Y, &SP, &IR}) *value = static_cast<uint8_t>(in.getInt());
    PC = static_cast<uint16_t>(in.getInt());
    for (bool* const flag : {&N, &V, &B, &D, &I, &notZ, &C}) *flag = in.getBool();
    myExecutionStatus = static_cast<uint8_t>(in.getInt());
    return true;
}

}  // namespace ale::stella
