// Takes the place of two functions in ALE's stella_environment.cpp, which are called after each frame.
#include <cstring>

#include "ale/emucore/Console.hxx"
#include "ale/emucore/System.hxx"
#include "ale/environment/stella_environment.hpp"

namespace ale {

// would copy the video chip's picture for getScreen; cypool reads the chip's memory
void StellaEnvironment::processScreen() {
    if (m_colour_averaging) m_phosphor_blend.process(m_screen);
}

// reads the memory a byte at a time, of which the last stays on the bus
void StellaEnvironment::processRAM() {
    stella::System& system = m_osystem->console().system();
    std::memcpy(m_ram.byte(0), system.getPageAccess(0x80 >> system.pageShift()).directPeekBase, m_ram.size());
    system.peek(0xff);
}

}  // namespace ale
