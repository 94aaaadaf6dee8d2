// The games by name, with the rules of their environments.
#pragma once

#include <map>
#include <string>

#include "cypool/envs/board/backgammon.h"
#include "cypool/envs/board/breakthrough.h"
#include "cypool/envs/board/go.h"
#include "cypool/envs/board/hex.h"
#include "cypool/envs/board/lines.h"
#include "cypool/envs/board/merging_tiles.h"
#include "cypool/envs/board/othello.h"

namespace cypool::board {

template <class Game> Rules* rules_of(const Options& options) { return new RulesOf<Turns<Match<Game>>>(options); }

inline Rules* new_rules(const std::string& game, const Options& options) {
    using Maker = Rules* (*)(const Options&);
    static const std::map<std::string, Maker> makers = {{"tic_tac_toe", rules_of<TicTacToe>},
                                                        {"connect_four", rules_of<ConnectFour>},
                                                        {"othello", rules_of<Othello>},
                                                        {"breakthrough", rules_of<Breakthrough>},
                                                        {"hex", rules_of<Hex>},
                                                        {"go", rules_of<Go>},
                                                        {"backgammon", rules_of<Backgammon>},
                                                        {"2048", rules_of<MergingTiles>}};
    return makers.at(game)(options);
}

}  // namespace cypool::board
