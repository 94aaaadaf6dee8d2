// Functions that ALE does not have: checks of ROMs, the screen in memory, tables of its colours.
#pragma once

#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "ale/ale_interface.hpp"
#include "ale/emucore/Console.hxx"
#include "ale/emucore/MD5.hxx"
#include "ale/emucore/MediaSrc.hxx"
#include "ale/emucore/TIA.hxx"

namespace cypool {

// the game whose ROM this is, "" if none; ALE leaks the small object it looks it up in: once per game
inline std::string rom_name(const std::string& path) { return ale::ALEInterface::isSupportedROM(path).value_or(""); }

inline std::string rom_md5(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<uint8_t> rom{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (rom.empty()) throw std::runtime_error("the ROM is gone: " + path);
    return ale::stella::MD5(rom.data(), static_cast<uint32_t>(rom.size()));
}

// throws where ALE would end the process, or run without end on a file that is no program
inline void check_rom(const std::string& path, const std::string& md5) {
    if (rom_md5(path) != md5) throw std::runtime_error("the ROM has changed: " + path);
}

inline void load_rom(ale::ALEInterface& game, const std::string& path, const std::string& md5) {
    check_rom(path, md5);
    game.loadROM(path);
}

// palette indices, row by row: the memory that getScreen would copy; screen.cpp leaves that copy out
inline const uint8_t* current_screen(ale::ALEInterface& game) {
    return game.theOSystem->console().mediaSource().currentFrameBuffer();
}

// for each palette index: its gray, and its red, green and blue (three tables of 256 bytes)
inline void color_tables(ale::ALEInterface& game, uint8_t* gray, uint8_t* rgb) {
    uint8_t index[256], pixels[3 * 256];
    std::iota(std::begin(index), std::end(index), uint8_t{0});
    ale::ColourPalette& palette = game.theOSystem->colourPalette();
    // ALE looks up the entry behind the index. Behind the last it reads the black with which its next
    // palette begins: the games that show this index (Air Raid) show black
    palette.applyPaletteGrayscale(gray, index, 255);
    gray[255] = 0;
    palette.applyPaletteRGB(pixels, index, 256);
    for (int k = 0; k < 3 * 256; ++k) rgb[k] = pixels[3 * (k % 256) + k / 256];
}

}  // namespace cypool

// whether the processor and the video chip are ours, and with which vector instructions these draw: see TIA.hxx
#ifdef CYPOOL_FAST_EMULATOR
constexpr bool cypool_fast_emulator = true;
inline int cypool_best_simd() { return static_cast<int>(ale::stella::TIA::best_simd()); }
inline void cypool_use_simd(int simd) { ale::stella::TIA::use_simd(static_cast<ale::stella::TIA::Simd>(simd)); }
#else
constexpr bool cypool_fast_emulator = false;
inline int cypool_best_simd() { return 0; }
inline void cypool_use_simd(int) {}
#endif
