// OpenSpiel's library, as its Python package installs it: opened when it is first needed, and called by what its
// symbols say. Nothing of OpenSpiel is compiled in or linked. The types below have the layout of version 2.0.2's own.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cypool::openspiel {

using Action = int64_t;
using Outcomes = std::vector<std::pair<Action, double>>;

// ---- what the library hands out

struct Parameter;
using Parameters = std::map<std::string, Parameter>;

struct Parameter {
    enum Type : int { UNSET = -1, INTEGER, NUMBER, TEXT, FLAG, GAME };
    bool is_mandatory = false;
    int integer = 0;
    double number = 0;
    std::string text;
    bool flag = false;
    Parameters game;
    Type type = UNSET;
};

struct GameType {
    std::string short_name, long_name;
    enum Dynamics : int { SIMULTANEOUS, SEQUENTIAL, MEAN_FIELD } dynamics;
    enum ChanceMode : int { DETERMINISTIC, EXPLICIT, SAMPLED } chance_mode;
    enum Information : int { ONE_SHOT, PERFECT, IMPERFECT } information;
    int utility, reward_model;
    int most_players, least_players;
    bool has_information_state_text, has_information_state_tensor, has_observation_text, has_observation_tensor;
    Parameters parameters;
    bool is_loadable_by_default, has_factored_observation_text, is_concrete, has_only_struct_actions;
};

// Neither is looked into: each begins with the pointer to its table of virtual functions.
struct Game;
struct State;

// absl::Span<float>
struct Span {
    float* data;
    size_t size;
};

struct DestroyState {
    void operator()(State* state) const;
};
using StatePointer = std::unique_ptr<State, DestroyState>;
using GamePointer = std::shared_ptr<const Game>;

// A virtual function: its place in the table, which a class says whose function of that name is known.
template <class Result, class... Arguments> struct Method {
    size_t slot;
    template <class Object> static void* const* table(const Object* object) {
        return *reinterpret_cast<void* const* const*>(object);
    }
    // a member function is called as one whose first argument is the object
    template <class Object> Result operator()(const Object* object, Arguments... arguments) const {
        return reinterpret_cast<Result (*)(const Object*, Arguments...)>(table(object)[slot])(object, arguments...);
    }
};

// ---- the library

class Library {
    inline static const std::string STRING = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
    inline static const std::string MAP = "St3mapIS5_NS_13GameParameterESt4lessIS5_ESaISt4pairIS6_S9_EEE";
    inline static const std::string TENSOR = "TensorEiN4absl12lts_202508144SpanIfEE";

    // a library stays open: its games register themselves once, and Python's module is the same file
    void* const handle_;

    template <class Function> Function find(const std::string& symbol) const {
        void* found = dlsym(handle_, symbol.c_str());
        if (found == nullptr) throw std::runtime_error("no symbol " + symbol);
        return reinterpret_cast<Function>(found);
    }

    using Handler = void (*)(const std::string& text);
    void (*const set_handler_)(Handler) = find<void (*)(Handler)>("_ZN10open_spiel15SetErrorHandlerEPFvRK" + STRING
                                                                  + "E");

    // The virtual functions of a class.
    class Table {
    public:
        Table(const Library& library, const std::string& name) : library_(library), name_(name) {
            const auto table = library.find<void* const*>("_ZTVN10open_spiel" + name + "E");
            Dl_info info;
            ElfW(Sym)* symbol = nullptr;
            if (!dladdr1(table, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) || symbol == nullptr) {
                throw std::runtime_error("no size for the table of " + name);
            }
            // before the functions lie an offset and a pointer to the type
            begin_ = table + 2;
            end_ = table + symbol->st_size / sizeof(void*);
        }
        // Returns where a function is, by how its symbol ends; `owner`: the base class that it is of.
        size_t slot(const std::string& function, const char* owner = nullptr, const char* constant = "K") const {
            const std::string symbol =
                std::string("_ZN") + constant + "10open_spiel" + (owner ? owner : name_) + function;
            void* const wanted = library_.find<void*>(symbol);
            void* const* found = std::find(begin_, end_, wanted);
            if (found == end_ || std::find(found + 1, end_, wanted) != end_) {
                throw std::runtime_error("no position for " + symbol + " among the functions of " + name_);
            }
            return static_cast<size_t>(found - begin_);
        }

    private:
        const Library& library_;
        const std::string name_;
        void* const* begin_;
        void* const* end_;
    };
    const Table game_{*this, "11tic_tac_toe13TicTacToeGame"}, state_{*this, "11tic_tac_toe14TicTacToeState"};

public:
    // of games
    Method<int> num_actions{game_.slot("18NumDistinctActionsEv")};
    Method<int> num_players{game_.slot("10NumPlayersEv")};
    Method<StatePointer> new_state{game_.slot("15NewInitialStateEv")};
    Method<std::vector<int>> information_state_shape{game_.slot("27InformationStateTensorShapeEv", "4Game")};
    Method<std::vector<int>> observation_shape{game_.slot("22ObservationTensorShapeEv")};
    // of states; tic-tac-toe has some of its base class
    Method<void> destroy{state_.slot("D0Ev", nullptr, "")};
    Method<int> current_player{state_.slot("13CurrentPlayerEv")};
    Method<bool> is_terminal{state_.slot("10IsTerminalEv")};
    Method<bool> is_chance{state_.slot("12IsChanceNodeEv", "5State")};
    Method<std::vector<Action>> legal_actions{state_.slot("12LegalActionsEv")};
    Method<std::vector<Action>, int> legal_actions_of{state_.slot("12LegalActionsEi", "5State")};
    Method<Outcomes> chance_outcomes{state_.slot("14ChanceOutcomesEv", "5State")};
    Method<std::vector<double>> rewards{state_.slot("7RewardsEv", "5State")};
    Method<StatePointer> clone{state_.slot("5CloneEv")};
    Method<void, Action> apply_action{state_.slot("11ApplyActionEl", "5State", "")};
    Method<void, int, Span> information_state_tensor{state_.slot("22InformationState" + TENSOR, "5State")};
    Method<void, int, Span> observation_tensor{state_.slot("17Observation" + TENSOR)};
    Method<std::string> text{state_.slot("8ToStringB5cxx11Ev")};
    Method<std::string, int> information_state_text{state_.slot("22InformationStateStringB5cxx11Ei")};
    Method<std::string, int> observation_text{state_.slot("17ObservationStringB5cxx11Ei")};
    Method<std::string, int, Action> action_text{state_.slot("14ActionToStringB5cxx11Eil")};
    void (*apply_actions)(State*, const std::vector<Action>&) =
        find<decltype(apply_actions)>("_ZN10open_spiel5State12ApplyActionsERKSt6vectorIlSaIlEE");
    // the function of states that reward no earlier
    void* rewards_at_end_only = find<void*>("_ZNK10open_spiel5State7RewardsEv");
    // others
    GamePointer (*load_game)(const std::string& name,
                             const Parameters& parameters) = find<decltype(load_game)>("_ZN10open_spiel8LoadGameERK"
                                                                                       + STRING + "RK" + MAP);
    Parameters (*parse_game)(const std::string& text) =
        find<decltype(parse_game)>("_ZN10open_spiel24GameParametersFromStringERK" + STRING);
    std::vector<GameType> (*registered_games)() =
        find<decltype(registered_games)>("_ZN10open_spiel14GameRegisterer15RegisteredGamesEv");

    // Opens the library; throws std::runtime_error. Errors become exceptions of this module where `sets_handler`, else
    // of OpenSpiel's Python module.
    Library(const std::string& path, bool sets_handler) : handle_(opened(path)) {
        if (sets_handler) set_handler_(raise);
    }

    static const GameType& type_of(const Game* game) {
        // behind the pointer to its table, and what std::enable_shared_from_this holds
        constexpr size_t offset = sizeof(void*) + sizeof(std::weak_ptr<const Game>);
        return *reinterpret_cast<const GameType*>(reinterpret_cast<const char*>(game) + offset);
    }

    // Looks at the layout of what is handed out, and plays a move; throws std::runtime_error.
    void examine() const;

private:
    static void* opened(const std::string& path) {
        void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) throw std::runtime_error(dlerror());
        return handle;
    }
    [[noreturn]] static void raise(const std::string& text) {
        std::string line = "OpenSpiel: " + text;
        std::replace(line.begin(), line.end(), '\n', ' ');
        throw std::runtime_error(line);
    }
};

// There is one in a process, which stays.
inline const Library* library = nullptr;

inline void open_library(const std::string& path, bool sets_handler) {
    library = new Library(path, sets_handler);
    library->examine();
}

inline void DestroyState::operator()(State* state) const { library->destroy(state); }

inline void Library::examine() const {
    const auto expect = [](bool is_so, const char* what) {
        if (!is_so) throw std::runtime_error(std::string("a test of its functions failed: ") + what);
    };
    // sizes and places of members first
    const auto types = registered_games();
    expect(types.size() > 50 && types.size() < 1000, "the number of games");
    const auto go = std::find_if(types.begin(), types.end(), [](const auto& type) { return type.short_name == "go"; });
    expect(go != types.end() && go->has_observation_tensor && !go->has_information_state_tensor
               && go->dynamics == GameType::SEQUENTIAL && go->chance_mode == GameType::DETERMINISTIC
               && go->least_players == 2 && go->most_players == 2,
           "the type of Go");
    const auto size = go->parameters.find("board_size"), komi = go->parameters.find("komi");
    expect(size != go->parameters.end() && size->second.type == Parameter::INTEGER && size->second.integer == 19
               && komi != go->parameters.end() && komi->second.type == Parameter::NUMBER && komi->second.number == 7.5,
           "the parameters of Go");
    const GamePointer game = load_game("tic_tac_toe", {});
    expect(type_of(game.get()).short_name == "tic_tac_toe", "the name of a game");
    expect(num_players(game.get()) == 2 && num_actions(game.get()) == 9
               && observation_shape(game.get()) == std::vector<int>{3, 3, 3},
           "the sizes of tic-tac-toe");
    const StatePointer state = new_state(game.get());
    float tensor[27] = {};
    observation_tensor(state.get(), 0, Span{tensor, 27});
    expect(std::count(tensor, tensor + 9, 1.f) == 9 && std::count(tensor + 9, tensor + 27, 0.f) == 18,
           "the first tensor of tic-tac-toe");
    apply_action(state.get(), 4);
    const StatePointer copy = clone(state.get());
    expect(legal_actions(copy.get()) == std::vector<Action>{0, 1, 2, 3, 5, 6, 7, 8} && current_player(copy.get()) == 1
               && !is_terminal(copy.get()) && !is_chance(copy.get()),
           "a move of tic-tac-toe");
    expect(text(copy.get()) == "...\n.x.\n..." && observation_text(copy.get(), 1) == text(copy.get())
               && information_state_text(copy.get(), 1) == "4" && action_text(copy.get(), 1, 8) == "o(2,2)",
           "the texts of tic-tac-toe");
}

}  // namespace cypool::openspiel
