# Blackjack.
from cypool.envs.shared.pixels.pictures import draw
from cypool.envs.toy_text import specs
from cypool.state import check_state

from libc.stdint cimport int64_t

from cypool.env cimport Env, Slot
from cypool.random cimport Rng, integers

SUITS = "CDHS"
FACES = "JQK"

cdef struct Hand:
    int total                            # with aces as 1
    int cards
    bint ace


cdef inline int draw_card(const Rng* rng, Hand* hand) noexcept nogil:
    # ace to ten, and three more tens: jack, queen and king
    cdef int card = min(<int>integers(rng, 0, 13) + 1, 10)
    hand.total += card
    hand.cards += 1
    hand.ace |= card == 1
    return card


cdef inline bint usable_ace(const Hand* hand) noexcept nogil:
    # chance decides: cheaper without a branch
    return hand.ace & (hand.total + 10 <= 21)


cdef inline int value(const Hand* hand) noexcept nogil:
    return hand.total + 10 * usable_ace(hand)


cdef inline int score(const Hand* hand) noexcept nogil:
    cdef int points = value(hand)
    return 0 if points > 21 else points


cdef bint is_natural(const Hand* hand) noexcept nogil:
    return hand.cards == 2 and hand.ace and hand.total == 11


cdef class Blackjack(Env):
    """Twenty-one against a dealer, with an endless deck: stick (0) or hit (1).

    Follows `gymnasium.envs.toy_text.BlackjackEnv` of Gymnasium 1.4: the same seed and actions give bit-identical
    results.

    Observation: A tuple of `Discrete(32)`, the player's sum; `Discrete(11)`, the dealer's face-up card, 1 to 10; and
        `Discrete(2)`, whether the player has a usable ace, which counts as 11.
    Reward: 1, 0 or -1 at the end; see `natural`.
    Terminated: When the player sticks or has more than 21.
    """
    describe = staticmethod(specs.blackjack)

    cdef bint natural
    cdef bint sab
    cdef Hand player
    cdef Hand dealer
    cdef int open_card
    cdef int suit                        # these two of the open card, for the picture only
    cdef int face

    def __init__(self, spec, env_id):
        self.natural = spec.options["natural"]
        self.sab = spec.options["sab"]

    cdef int reset(self) except -1 nogil:
        self.player = self.dealer = Hand(0, 0, False)
        self.open_card = draw_card(self.rng, &self.dealer)
        draw_card(self.rng, &self.dealer)
        draw_card(self.rng, &self.player)
        draw_card(self.rng, &self.player)
        self.suit = <int>integers(self.rng, 0, 4)
        self.face = <int>integers(self.rng, 0, 3) if self.open_card == 10 else 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int mine, theirs
        if (<const int64_t*>action)[0] == 1:
            draw_card(self.rng, &self.player)
            self.terminated = value(&self.player) > 21
            self.reward = <double>-<int>self.terminated
            return 0
        self.terminated = True
        while value(&self.dealer) < 17:
            draw_card(self.rng, &self.dealer)
        mine, theirs = score(&self.player), score(&self.dealer)
        self.reward = <double>((mine > theirs) - (mine < theirs))
        if self.sab:
            if is_natural(&self.player) and not is_natural(&self.dealer):
                self.reward = 1.0
        elif self.natural and is_natural(&self.player) and self.reward == 1.0:
            self.reward = 1.5
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<int64_t*>out.obs[0])[0] = value(&self.player)
        (<int64_t*>out.obs[1])[0] = self.open_card
        (<int64_t*>out.obs[2])[0] = usable_ace(&self.player)
        return 0

    cdef object save(self):
        return (self.player.total, self.player.cards, self.player.ace, self.dealer.total, self.dealer.cards,
                self.dealer.ace, self.open_card, self.suit, self.face)

    cdef int load(self, object state) except -1:
        # who stops at 21 has 31 at most, of 31 cards at most
        (self.player.total, self.player.cards, self.player.ace, self.dealer.total, self.dealer.cards, self.dealer.ace,
         self.open_card, self.suit, self.face) = check_state(
            state, *[(2, 31), (2, 31), bool] * 2, (1, 10), (0, len(SUITS) - 1), (0, len(FACES) - 1))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        (self.player, self.dealer, self.open_card, self.suit) = (
            (<Blackjack>other).player, (<Blackjack>other).dealer, (<Blackjack>other).open_card, (<Blackjack>other).suit)
        self.face = (<Blackjack>other).face
        return 0

    cdef object render(self):
        cdef int total = self.player.total
        card = {1: "A", 10: FACES[self.face]}.get(self.open_card, str(self.open_card))
        # any hand that counts the same
        return draw("gymnasium.envs.toy_text.blackjack:BlackjackEnv", {},
                    {"player": [1, total - 1] if self.player.ace else [total], "dealer": [self.open_card],
                     "dealer_top_card_value_str": card, "dealer_top_card_suit": SUITS[self.suit]})
