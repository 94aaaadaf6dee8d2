// Takes the place of ALE's class for colour averaging, which fills a table of 65536 colours and one of 262144
// palette entries in its constructor: 60 ms for each env, although hardly anybody averages colours.
//
// Here the constructor does nothing, so the tables' pages are never touched either; averaging is refused.
#include <stdexcept>

#include "ale/environment/phosphor_blend.hpp"

namespace ale {

PhosphorBlend::PhosphorBlend(stella::OSystem* system) : m_osystem(system) {}

void PhosphorBlend::process(ALEScreen&) {
    throw std::runtime_error("color_averaging: expected False, got True: cypool is built without color averaging");
}

}  // namespace ale
