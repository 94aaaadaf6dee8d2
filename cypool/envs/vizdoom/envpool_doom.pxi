# Doom as EnvPool has it.
from cypool.envs.vizdoom import assets, specs
from cypool.envs.vizdoom.config import envpool_lines, envpool_size, lines_of
from cypool.envs.vizdoom.names import VARIABLES
from cypool.options import describes

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.shared.pixels.frame_stack cimport FrameStack
from cypool.envs.shared.pixels.resize cimport Resize
from cypool.random cimport integers

cdef extern from "<string>" namespace "std" nogil:
    string to_string(int value)

cdef int DAMAGECOUNT = VARIABLES.index("DAMAGECOUNT")
cdef int DEATHCOUNT = VARIABLES.index("DEATHCOUNT")
cdef int HEALTH = VARIABLES.index("HEALTH")
cdef int HITCOUNT = VARIABLES.index("HITCOUNT")
cdef int SELECTED_WEAPON = VARIABLES.index("SELECTED_WEAPON")
cdef int SELECTED_WEAPON_AMMO = VARIABLES.index("SELECTED_WEAPON_AMMO")


@describes(**specs.ENVPOOL_OPTIONS)
def describe_envpool(options):
    return specs.envpool_doom(options, read_config)


cdef class EnvPoolDoom(Doom):
    """Doom with EnvPool 1.2.5's observations, actions and rewards: small stacked images, and changes in game variables.

    A step that ends the episode has reward 0 and repeats the previous frame, because the game no longer renders one.
    With several players, observations, actions and infos have a leading dimension for the players.
    """
    describe = staticmethod(describe_envpool)

    cdef size_t channels
    cdef size_t plane_bytes              # of the screen
    cdef size_t out_bytes                # of the small image
    cdef FrameStack frames               # a ring for each player
    cdef unique_ptr[Resize] to_config    # to the config's screen; NULL: the engine draws it as large as that
    cdef unique_ptr[Resize] to_image
    cdef vector[uint8_t] config_plane    # between the two
    cdef vector[double] choices          # buttons of each combined action; empty: buttons are free
    cdef vector[int] variables
    cdef vector[int] info_variables      # which of them info has
    cdef vector[double] now              # values of variables, of each player
    cdef vector[double] before
    cdef vector[double] base             # counters at the episode's begin
    cdef vector[double] gain             # reward of one more
    cdef vector[double] loss             # ... of one less, negated
    cdef vector[double] weapon_reward
    cdef vector[int] weapon              # of each player
    cdef vector[int] weapon_steps
    cdef int weapon_duration
    cdef bint episodic_life
    cdef bint life_lost
    cdef int game_step                   # steps since the game began, not the life
    cdef bint reseed
    cdef uint32_t new_seed
    cdef string recording                # folder, and how names begin; empty: none
    cdef int episode

    def __init__(self, spec, env_id):
        options = spec.options
        cdef size_t k
        text = envpool_lines(options, read_config)
        if spec.max_episode_steps is not None:
            # of ViZDoom's type, whatever the limit is
            timeout = min((spec.max_episode_steps + 1) * options["frame_skip"], 2**31 - 1)
            text += lines_of({"episode_timeout": timeout})
        super().__init__(spec, env_id, options["cfg_path"], text, specs.player_arguments(options), True)
        facts = self.config
        self.channels = facts.channels
        self.plane_bytes = facts.height * facts.width
        self.out_bytes = options["img_height"] * options["img_width"]
        self.frames = FrameStack(options["stack_num"], self.channels * self.out_bytes, self.num_players)
        cdef bint by_area = options["use_inter_area_resize"]
        cdef int drawn_height = facts.height, drawn_width = facts.width, height, width
        cdef int out_height = options["img_height"], out_width = options["img_width"]
        height, width = envpool_size(facts, options, read_config)
        if height != drawn_height or width != drawn_width:
            self.to_config = make_unique[Resize](by_area, drawn_height, drawn_width, height, width)
            self.config_plane.resize(height * width)
        self.to_image = make_unique[Resize](by_area, height, width, out_height, out_width)
        if options["use_combined_action"]:
            self.choices = specs.combined_actions(facts.buttons, options["force_speed"],
                                                  options["delta_button_config"]).ravel()
        self.variables, self.info_variables, self.gain, self.loss, self.weapon_reward = specs.rewarded(facts, options)
        k = self.num_players * self.variables.size()
        self.now.resize(k)
        self.before.resize(k)
        self.base.resize(k)
        self.weapon.resize(self.num_players)
        self.weapon_steps.resize(self.num_players)
        self.weapon_duration = options["weapon_duration"]
        self.episodic_life = options["episodic_life"]
        if options["lmp_save_dir"]:
            self.recording = f"{assets.record_into(options['lmp_save_dir'])}/env_{env_id}_".encode()

    cdef int seed(self, object seed) except -1:
        Env.seed(self, seed)
        self.new_seed = seed
        self.reseed = True
        return 0

    cdef int reset(self) except -1 nogil:
        cdef bint goes_on = (self.life_lost and not self.reset_requested and self.match.running()
                             and not self.match.over() and self.game_step < self.max_episode_steps)
        cdef bint failed = False
        cdef string path
        cdef size_t k
        self.life_lost = False
        if goes_on:
            self.game_step += 1
            self.elapsed_step = self.game_step
            for k in range(self.values.size()):
                # no conditional expression: Cython would keep the address of a temporary 0
                self.values[k] = 0
                if self.choices.size() > 0:
                    self.values[k] = self.choices[k % self.num_buttons]
            goes_on = self.play()
            failed = not goes_on
            self.truncated = False
        if not goes_on:
            self.game_step = 0
            self.elapsed_step = 0
            # for an engine that is started again, which must not repeat the games of the last one
            if not self.reseed:
                self.new_seed = <uint32_t>integers(self.rng, 0, 1LL << 32)
            if self.recording.size() > 0 and self.episode > 0:
                path = self.recording + to_string(self.episode) + string(b".lmp")
            self.begin(self.reseed, self.new_seed, path)
            self.restarted = self.restarted or failed
            self.reseed = False
            self.episode += 1
        self.player_rewards.assign(self.num_players, 0)
        for k in range(self.num_players):
            self.read_player(k, True)
        return 0

    cdef void press(self, const void* action) noexcept nogil:
        cdef size_t player, k
        cdef const double* given = <const double*>action
        for player in range(self.num_players):
            if self.choices.size() > 0:
                given = self.choices.data() + <size_t>(<const int64_t*>action)[player] * self.num_buttons
            for k in range(self.num_buttons):
                self.values[player * self.num_buttons + k] = given[k]
            given += self.num_buttons

    cdef int step(self, const void* action) except -1 nogil:
        cdef size_t player
        cdef double reward = 0
        self.press(action)
        self.player_rewards.assign(self.num_players, 0)
        if not self.play():
            return 0
        self.game_step = self.elapsed_step
        self.terminated = self.match.over()
        if not self.terminated:
            self.frames.advance()
        for player in range(self.num_players):
            if self.episodic_life and self.match.player(player).dead():
                self.terminated = self.life_lost = True
            if not self.match.over():
                self.player_rewards[player] = self.read_player(player, False)
                reward += self.player_rewards[player]
        self.give_rewards()
        self.reward = reward
        return 0

    cdef float read_player(self, size_t player, bint first) noexcept nogil:
        """Stores a player's screen and variables; returns the reward for the changes."""
        cdef size_t count = self.variables.size(), k
        cdef double* now = self.now.data() + player * count
        cdef double* before = self.before.data() + player * count
        cdef double* base = self.base.data() + player * count
        cdef float reward = 0
        cdef double delta
        cdef int variable, weapon = -1, ammunition = 0
        for k in range(count):
            variable = self.variables[k]
            before[k] = now[k]
            now[k] = self.match.player(player).variable(variable)
            if first:
                before[k] = now[k]
            # these continue from episode to episode
            if variable == HITCOUNT or variable == DAMAGECOUNT or variable == DEATHCOUNT:
                if first:
                    base[k] = now[k]
                    before[k] = 0
                now[k] -= base[k]
        if first:
            self.weapon[player] = -1
            self.weapon_steps[player] = 0
        for k in range(count):
            variable = self.variables[k]
            delta = now[k] - before[k]
            if variable == DAMAGECOUNT and delta >= 200:
                delta = 200
            elif variable == HITCOUNT and delta >= 5:
                delta = 5
            elif variable == SELECTED_WEAPON:
                weapon = <int>now[k]
            elif variable == SELECTED_WEAPON_AMMO:
                ammunition = <int>now[k]
            elif variable == HEALTH:
                # the game may report -999900
                if before[k] < 0 and now[k] < 0:
                    before[k] = now[k] = 100
                elif now[k] < 0:
                    now[k] = before[k]
                elif before[k] < 0:
                    before[k] = now[k]
                delta = now[k] - before[k]
            if delta >= 0:
                reward += <float>(delta * self.gain[k])
            else:
                reward -= <float>(delta * self.loss[k])
        if weapon == self.weapon[player]:
            self.weapon_steps[player] += 1
        else:
            self.weapon[player] = weapon
            self.weapon_steps[player] = 1
        if weapon >= 0 and self.weapon_steps[player] >= self.weapon_duration and ammunition > 0:
            reward = <float>(reward + self.weapon_reward[weapon])
        self.push(player, first)
        return reward

    cdef void push(self, size_t player, bint first) noexcept nogil:
        """Shrinks a player's screen into the newest frame, or into all frames at the start of an episode."""
        cdef const uint8_t* screen = self.match.player(player).buffer(library.SCREEN)
        cdef uint8_t* target = self.frames.newest_frame(player)
        cdef const uint8_t* plane
        cdef size_t k
        for k in range(self.channels):
            plane = screen + k * self.plane_bytes
            if self.to_config.get() != NULL:
                self.to_config.get().run(plane, self.config_plane.data())
                plane = self.config_plane.data()
            self.to_image.get().run(plane, target + k * self.out_bytes)
        if first:
            self.frames.fill(player)

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t size = self.frames.num_frames * self.frames.frame_bytes, player, k
        for player in range(self.num_players):
            self.frames.write(player, <uint8_t*>out.obs[0] + player * size)
            for k in range(self.info_variables.size()):
                (<double*>out.info[k])[player] = self.now[player * self.variables.size() + self.info_variables[k]]
        self.write_infos(out, self.info_variables.size())
        return 0
