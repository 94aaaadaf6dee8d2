// Replaces the function in ALE's System.cxx that exchanges pages of the console's memory, which cartridges call to
// switch banks. This one also counts, in a field of the processor that ALE has and does not use, so that the processor
// (m6502.cpp) notices. Also replaces those that switch banks of 8 and 16 kB: some games do it often in a frame.
#include "ale/emucore/CartF6.hxx"
#include "ale/emucore/CartF8.hxx"
#include "ale/emucore/M6502.hxx"
#include "ale/emucore/System.hxx"

namespace {

// Shows 4 kB in all pages of a cartridge but the last, which has the addresses that switch banks.
void show_bank(ale::stella::System& system, ale::stella::Device& cartridge, uint8_t* bytes) {
    using Page = ale::stella::System::PageAccess;
    constexpr uint16_t FIRST = 64, LAST = 126, SIZE = 64;
    Page* const pages = const_cast<Page*>(&system.getPageAccess(0));
    // nobody else writes to these pages
    const bool is_new = pages[LAST].device != &cartridge;
    for (Page* page = pages + FIRST; page < pages + LAST; ++page, bytes += SIZE) {
        page->directPeekBase = bytes;
        if (!is_new) [[likely]]
            continue;
        page->directPokeBase = nullptr;
        page->device = &cartridge;
    }
    Page last{};
    last.directPeekBase = bytes;
    last.device = &cartridge;
    system.setPageAccess(LAST, last);
}

}  // namespace

namespace ale::stella {

void System::setPageAccess(uint16_t page, const PageAccess& access) {
    if (myM6502) ++myM6502->myTotalInstructionCount;
    // one after another: the caller has just written each, and a CPU waits for a wider read of several writes
    PageAccess& target = myPageAccessTable[page];
    target.directPeekBase = access.directPeekBase;
    target.directPokeBase = access.directPokeBase;
    target.device = access.device;
}

void CartridgeF8::bank(uint16_t bank) {
    if (bankLocked) return;
    myCurrentBank = bank;
    show_bank(*mySystem, *this, myImage + 4096 * bank);
}

void CartridgeF6::bank(uint16_t bank) {
    if (bankLocked) return;
    myCurrentBank = bank;
    show_bank(*mySystem, *this, myImage + 4096 * bank);
}

}  // namespace ale::stella
