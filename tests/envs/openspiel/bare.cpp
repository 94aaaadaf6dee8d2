// Random legal actions in OpenSpiel's states, with the tensor and the mask of who moves for each step: measure.py
// compares with this.
#include <cstdint>
#include <string>
#include <vector>

#include "cypool/envs/openspiel/library.h"

using namespace cypool::openspiel;

namespace {

struct Loop {
    GamePointer game;
    std::vector<StatePointer> states;
    std::vector<float> tensors;
    std::vector<uint8_t> masks;
    size_t tensor_size = 1, num_actions = 0;
    bool sees_information_state = false;
    uint64_t random = 1;

    uint64_t below(uint64_t count) {
        random = random * 6364136223846793005 + 1442695040888963407;
        return (random >> 32) * count >> 32;
    }
    void move(StatePointer& state, float* tensor, uint8_t* mask) {
        if (library->is_terminal(state.get())) {
            state = library->new_state(game.get());
        } else {
            const auto legal = library->legal_actions(state.get());
            library->apply_action(state.get(), legal[below(legal.size())]);
        }
        while (library->is_chance(state.get())) {
            const auto outcomes = library->chance_outcomes(state.get());
            library->apply_action(state.get(), outcomes[below(outcomes.size())].first);
        }
        std::fill_n(mask, num_actions, uint8_t{0});
        if (library->is_terminal(state.get())) return;
        for (const Action each : library->legal_actions(state.get())) mask[each] = 1;
        std::fill_n(tensor, tensor_size, 0.f);
        const auto& write = sees_information_state ? library->information_state_tensor : library->observation_tensor;
        write(state.get(), library->current_player(state.get()), Span{tensor, tensor_size});
    }
};

}  // namespace

extern "C" void* begin(const char* path, const char* text, int num_games, int num_steps) {
    open_library(path, true);
    auto* loop = new Loop;
    Parameters parameters = library->parse_game(text);
    const std::string name = parameters.at("name").text;
    parameters.erase("name");
    loop->game = library->load_game(name, parameters);
    loop->sees_information_state = Library::type_of(loop->game.get()).has_information_state_tensor;
    const auto shape = loop->sees_information_state ? library->information_state_shape(loop->game.get())
                                                    : library->observation_shape(loop->game.get());
    for (const int size : shape) loop->tensor_size *= static_cast<size_t>(size);
    loop->num_actions = static_cast<size_t>(library->num_actions(loop->game.get()));
    for (int k = 0; k < num_games; ++k) loop->states.push_back(library->new_state(loop->game.get()));
    loop->tensors.resize(loop->tensor_size * static_cast<size_t>(num_steps * num_games));
    loop->masks.resize(loop->num_actions * static_cast<size_t>(num_steps * num_games));
    return loop;
}

extern "C" void run(Loop* loop, int num_steps) {
    size_t row = 0;
    for (int t = 0; t < num_steps; ++t) {
        for (StatePointer& state : loop->states) {
            loop->move(state, &loop->tensors[row * loop->tensor_size], &loop->masks[row * loop->num_actions]);
            ++row;
        }
    }
}
