// Maps NetHack's library into blocks: its instructions are shared by all, its data are of each. The library is linked
// here to the functions of libc.h, and to nothing else.
#pragma once

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "cypool/envs/nethack/faults.h"
#include "cypool/envs/nethack/libc.h"

namespace cypool::nethack {

class Library {
public:
    // `file` is libnethack.so: its content, as the caller has checked it.
    explicit Library(const std::string& file) : file_(file) {
        const auto& header = *at<Elf64_Ehdr>(0);
        segments_ = at<Elf64_Phdr>(header.e_phoff);
        num_segments_ = header.e_phnum;
        for (int k = 0; k < num_segments_; ++k) {
            const Elf64_Phdr& each = segments_[k];
            if (each.p_type == PT_TLS) refuse("thread-local variables");
            if (each.p_type != PT_LOAD) continue;
            const size_t end = up(each.p_vaddr + each.p_memsz);
            layout_.bytes = std::max(layout_.bytes, end);
            if (each.p_flags & PF_X) layout_.text = each.p_vaddr, layout_.text_end = each.p_vaddr + each.p_memsz;
            // read-only segments are mapped as one
            if (!(each.p_flags & PF_W) && each.p_offset != each.p_vaddr) refuse("segments in unexpected places");
            if (each.p_flags & PF_W) layout_.data = down(each.p_vaddr), layout_.data_end = end;
        }
        // a file that cannot be replaced or changed while it is mapped
        descriptor_ = memfd_create("libnethack", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (descriptor_ < 0) refuse_system();
        for (size_t done = 0; done < file_.size();) {
            const ssize_t written = ::write(descriptor_, file_.data() + done, file_.size() - done);
            if (written <= 0) refuse_system();
            done += static_cast<size_t>(written);
        }
        fcntl(descriptor_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
        link();
    }

    // Returns a block with the library as it is after loading.
    std::unique_ptr<Block> block() const {
        std::unique_ptr<Block> made = mapped();
        made->load(loaded_);
        return made;
    }
    // Puts a block back to this.
    void renew(Block& block) const { block.load(loaded_); }

    // The parts of the library that games use; found once.
    struct {
        size_t start, step, fill, describe, print, draw_glyph, draw_status, program_state;
    } places;

    // Returns where a function or variable is, in all blocks; 0: nowhere.
    size_t look_up(std::string_view name) const {
        for (size_t k = 1; k < num_symbols_; ++k) {
            if (symbols_[k].st_shndx != SHN_UNDEF && name == names_ + symbols_[k].st_name) return symbols_[k].st_value;
        }
        return 0;
    }

private:
    size_t find(const char* name) const {
        const size_t place = look_up(name);
        if (place == 0) refuse("no " + std::string(name));
        return place;
    }

    std::string file_;
    int descriptor_;
    const Elf64_Phdr* segments_;
    int num_segments_;
    LibraryLayout layout_;
    const Elf64_Sym* symbols_ = nullptr;
    size_t num_symbols_ = 0;
    const char* names_ = nullptr;
    Snapshot loaded_;

    template <class Value> const Value* at(size_t offset) const {
        if (offset + sizeof(Value) > file_.size()) refuse("an unexpected end");
        return reinterpret_cast<const Value*>(file_.data() + offset);
    }
    static size_t down(size_t address) { return address & ~(PAGE - 1); }
    static size_t up(size_t address) { return down(address + PAGE - 1); }
    [[noreturn]] static void refuse(const std::string& what) {
        throw std::runtime_error("NetHack's library: expected the build that cypool supports, got one with " + what);
    }
    [[noreturn]] static void refuse_system() {
        throw std::runtime_error(std::string("NetHack's library: the system cannot map it: ") + std::strerror(errno));
    }

    // A block with the library's read-only memory; the writable memory is zero.
    std::unique_ptr<Block> mapped() const {
        auto made = std::make_unique<Block>(layout_);
        if (mmap(made->base, layout_.data, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, descriptor_, 0)
            == MAP_FAILED) {
            refuse_map();
        }
        return made;
    }

    // Links the library in a first block, runs its constructors, and keeps the data that result.
    void link() {
        const std::unique_ptr<Block> first = mapped();
        char* const base = first->base;
        const Elf64_Dyn* entry = nullptr;
        for (int k = 0; k < num_segments_; ++k) {
            const Elf64_Phdr& each = segments_[k];
            if (each.p_type == PT_DYNAMIC) entry = at<Elf64_Dyn>(each.p_offset);
            if (each.p_type != PT_LOAD || !(each.p_flags & PF_W)) continue;
            std::memcpy(base + each.p_vaddr, file_.data() + each.p_offset, each.p_filesz);
        }
        if (entry == nullptr) refuse("no dynamic section");
        // these tables are in front of the data, where address and place in the file are the same
        std::pair<const Elf64_Rela*, size_t> tables[2] = {};
        size_t constructors = 0, num_constructors = 0;
        for (; entry->d_tag != DT_NULL; ++entry) {
            const size_t value = entry->d_un.d_val;
            switch (entry->d_tag) {
                case DT_SYMTAB: symbols_ = at<Elf64_Sym>(value); break;
                case DT_STRTAB: names_ = at<char>(value); break;
                case DT_RELA: tables[0].first = at<Elf64_Rela>(value); break;
                case DT_RELASZ: tables[0].second = value / sizeof(Elf64_Rela); break;
                case DT_JMPREL: tables[1].first = at<Elf64_Rela>(value); break;
                case DT_PLTRELSZ: tables[1].second = value / sizeof(Elf64_Rela); break;
                case DT_INIT_ARRAY: constructors = value; break;
                case DT_INIT_ARRAYSZ: num_constructors = value / sizeof(void*); break;
                default: break;
            }
        }
        // the names follow the symbols
        num_symbols_ = static_cast<size_t>(names_ - reinterpret_cast<const char*>(symbols_)) / sizeof(Elf64_Sym);
        for (const auto& [table, count] : tables) {
            for (size_t k = 0; k < count; ++k) relocate(base, table[k]);
        }
        const bool done = guarded(*first, [&] {
            for (size_t k = 0; k < num_constructors; ++k) {
                (*reinterpret_cast<void (**)()>(base + constructors + k * sizeof(void*)))();
            }
            for (const char* name : {"perm", "record", "logfile", "xlogfile"}) instead::create(name);
        });
        if (!done) throw std::runtime_error("NetHack's library cannot be loaded");
        loaded_ = first->save();
        places = {find("nle_start"),    find("nle_step"),          find(instead::FILL),        find(instead::DESCRIBE),
                  find(instead::PRINT), find(instead::DRAW_GLYPH), find(instead::DRAW_STATUS), find("program_state")};
    }

    void relocate(char* base, const Elf64_Rela& each) const {
        auto* const place = reinterpret_cast<uint64_t*>(base + each.r_offset);
        const auto addend = static_cast<uint64_t>(each.r_addend);
        switch (ELF64_R_TYPE(each.r_info)) {
            case R_X86_64_RELATIVE: *place = reinterpret_cast<uint64_t>(base) + addend; break;
            case R_X86_64_64: *place = address_of(base, symbols_[ELF64_R_SYM(each.r_info)]) + addend; break;
            case R_X86_64_GLOB_DAT:
            case R_X86_64_JUMP_SLOT: *place = address_of(base, symbols_[ELF64_R_SYM(each.r_info)]); break;
            default: refuse("a relocation of type " + std::to_string(ELF64_R_TYPE(each.r_info)));
        }
    }
    uint64_t address_of(char* base, const Elf64_Sym& symbol) const {
        const std::string name = names_ + symbol.st_name;
        const auto found = nethack::symbols().find(name);
        if (found != nethack::symbols().end()) return reinterpret_cast<uint64_t>(found->second);
        if (symbol.st_shndx == SHN_UNDEF) refuse("a symbol " + name);
        return reinterpret_cast<uint64_t>(base) + symbol.st_value;
    }
};

// There is one in a process; it stays.
inline const Library* library = nullptr;
inline std::mutex opening;
inline bool is_open() {
    const std::lock_guard<std::mutex> lock(opening);
    return library != nullptr;
}

// `file` is libnethack.so, `texts` is nhdat: their contents, as the caller has checked them.
inline void open_library(const std::string& file, const std::string& texts) {
    const std::lock_guard<std::mutex> lock(opening);
    if (library != nullptr) return;
    archive = texts;
    library = new Library(file);
}

}  // namespace cypool::nethack
