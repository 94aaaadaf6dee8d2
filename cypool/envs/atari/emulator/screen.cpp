// Takes the place of one function in ALE's stella_environment.cpp: the one that copies the video chip's picture for
// getScreen after each frame. cypool reads the chip's memory and does not need the copy.
#include "ale/environment/stella_environment.hpp"

namespace ale {

void StellaEnvironment::processScreen() {
    if (m_colour_averaging) m_phosphor_blend.process(m_screen);
}

}  // namespace ale
