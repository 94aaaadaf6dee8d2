// Where things are in the library and its objects: from the debug information in it. The numbers are those of one
// build, whose sha256 library.py checks.
#pragma once

#include <cstddef>

namespace cypool::procgen {

enum : int { SIDE = 64, PICTURE_BYTES = SIDE * SIDE * 3, RENDERED_SIDE = 512 };

namespace at {

// in an object, in bytes
enum : size_t {
    GAMES = 88,  // in the result of libenv_make: a vector of shared pointers
    // of all games
    PAINT_VEL_INFO = 64,
    USE_GENERATED_ASSETS = 65,
    USE_MONOCHROME_ASSETS = 66,
    USE_BACKGROUNDS = 68,
    CENTER_AGENT = 69,
    MODE = 76,
    LEVEL_LOW = 96,
    LEVEL_HIGH = 100,
    LEVEL_STREAM = 112,
    STREAM = 5120,
    STREAM_SEEDED = STREAM + 5000,
    REWARD = 10128,
    DONE = 10132,
    COMPLETE = 10133,
    ACTION = 10136,
    TIMEOUT = 10140,
    LEVEL = 10144,
    PREV_LEVEL = 10148,
    EPISODES = 10152,
    CUR_TIME = 26560,
    OBS_BUFFERS = 26576,
    INFO_BUFFERS = 26600,
    TOTAL_REWARD = 26644,
    AGENT = 26656,
    ENTITIES = 26672,
    ENTITIES_END = 26680,
    ASSETS = 26696,
    REFLECTIONS = 26720,
    BACKGROUNDS = 26744,
    BACKGROUND_INDEX = 26804,
    BACKGROUND_TILE_RATIO = 26808,
    BACKGROUND_PART = 26812,
    CHAR_DIM = 26816,
    LAST_MOVE = 26820,
    MAX_SPEED = 26836,
    MAX_JUMP = 26840,
    CENTER_X = 26856,
    CENTER_Y = 26860,
    HAS_VELOCITY = 26865,
    MAIN_WIDTH = 31880,
    MAIN_HEIGHT = 31884,
    OUT_OF_BOUNDS_OBJECT = 31888,
    UNIT = 31892,
    VIEW_DIM = 31896,
    X_OFF = 31900,
    Y_OFF = 31904,
    VISIBILITY = 31908,
    MIN_VISIBILITY = 31912,
    GRID_WIDTH = 31920,
    GRID_HEIGHT = 31924,
    GRID = 31928,
    // of some games
    NINJA_CHARGE = 31972,
    PLUNDER_HITS = 32096,
    PLUNDER_QUOTA = 32100,
    PLUNDER_JUICE = 32104,
    STARPILOT_SPEED = 32160
};

// in the table of virtual functions
enum : int {
    OBSERVE = 2,
    GAME_RESET = 4,
    GAME_STEP = 5,
    GAME_DRAW = 6,
    GET_TILE_ASPECT_RATIO = 17,
    IMAGE_FOR_TYPE = 20,
    THEME_FOR_GRID_OBJ = 21,
    COLOR_FOR_TYPE = 23,
    SHOULD_DRAW_ENTITY = 26,
    CHOOSE_CENTER = 28,
    GET_ADJUSTED_IMAGE_RECT = 30
};

// functions in the library, in bytes from where it is loaded
enum : size_t {
    LOOKUP_ASSET = 0x6e4c0,
    DRAW_IMAGE = 0x6e6b0,
    RENDER_TO_BUF = 0x73640,
    DRAW_COMPASS = 0x89850,
    // virtual functions of games that add nothing there
    NO_TILES = 0x675b0,
    SAME_RECT = 0x676b0,
    ALWAYS_DRAWN = 0x676d0
};

}  // namespace at
}  // namespace cypool::procgen
