// Takes the place of one function in ALE's System.cxx: the one that exchanges pages of the console's memory, which
// cartridges do to switch banks. Here it counts, so that the processor (m6502.cpp) need not look where it was; in a
// number of the processor's that ALE has and leaves alone.
#include "ale/emucore/M6502.hxx"
#include "ale/emucore/System.hxx"

namespace {

// an explicit instantiation may name protected members
struct PageChanges {
    friend int& expose(PageChanges, ale::stella::M6502& processor);
};
template <int ale::stella::M6502::* pointer> struct Expose {
    friend int& expose(PageChanges, ale::stella::M6502& processor) { return processor.*pointer; }
};
template struct Expose<&ale::stella::M6502::myTotalInstructionCount>;

}  // namespace

namespace ale::stella {

void System::setPageAccess(uint16_t page, const PageAccess& access) {
    if (myM6502) ++expose(PageChanges(), *myM6502);
    // one after another: the caller has just written each, and a CPU waits for a wider read of several writes
    PageAccess& target = myPageAccessTable[page];
    target.directPeekBase = access.directPeekBase;
    target.directPokeBase = access.directPokeBase;
    target.device = access.device;
}

}  // namespace ale::stella
