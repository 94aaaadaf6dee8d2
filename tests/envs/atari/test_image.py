"""The Atari image kernels, against OpenCV and against ALE's own gray screens."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

from cypool.envs.atari.atari import pool_frames
from cypool.envs.shared.pixels.resize import shrink, shrink_linear

cv2 = pytest.importorskip("cv2")

# height, width of the result
SIZES = [(84, 84), (96, 96), (64, 64), (84, 110), (110, 84), (100, 120), (120, 100), (105, 80), (210, 160)]
SIZES += [(42, 40), (84, 160), (105, 160), (210, 80), (1, 1), (1, 84), (84, 1), (70, 80), (125, 80), (2, 8)]
KINDS = ["noise", "blocks", "ties", "extremes"]
GAMES = ["pong", "breakout", "ms_pacman", "space_invaders", "seaquest"]
KERNELS = {shrink: cv2.INTER_AREA, shrink_linear: cv2.INTER_LINEAR}


@pytest.fixture(params=KERNELS, ids=["area", "linear"])
def kernel(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["simd", "portable"])
def simd(request):
    return request.param


def image(rng, kind, height, width):
    if kind == "noise":
        return rng.integers(0, 256, (height, width), dtype=np.uint8)
    if kind == "blocks":  # screens are mostly flat
        cells = rng.integers(0, 256, ((height + 9) // 10, (width + 7) // 8), dtype=np.uint8)
        return np.kron(cells, np.ones((10, 8), np.uint8))[:height, :width].copy()
    if kind == "ties":  # many sums end in exactly a half
        return (rng.integers(0, 13, (height, width)) * 20).astype(np.uint8)
    return rng.choice(np.array([0, 255], np.uint8), (height, width))


def assert_as_opencv(kernel, plane, height, width, simd):
    got = kernel(plane, height, width, simd=simd)
    want = cv2.resize(plane, (width, height), interpolation=KERNELS[kernel]).reshape(height, width)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, want, err_msg=f"{plane.shape} to {height} x {width}, simd={simd}")


@pytest.mark.parametrize("rows", [210, 250], ids=["ntsc", "pal"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_shrink_is_that_of_opencv(rows, size, kernel, simd):
    rng = np.random.default_rng(rows)
    for kind in KINDS:
        for _ in range(10):
            assert_as_opencv(kernel, image(rng, kind, rows, 160), *size, simd)


@pytest.mark.parametrize("rows", [210, 250, None], ids=["ntsc", "pal", "any"])
def test_shrink_random_sizes(rows, kernel, simd):
    rng = np.random.default_rng(1)
    for i in range(400 if kernel is shrink else 600):
        height, width = (rows, 160) if rows else rng.integers(1, 150, 2).tolist()
        size = rng.integers(1, height + 1), rng.integers(1, width + 1)
        assert_as_opencv(kernel, image(rng, KINDS[i % 4], height, width), *map(int, size), simd)


def test_shrink_whole_factors(kernel, simd):
    # OpenCV takes some whole factors, 49 the least, for fractions: 1 / (1 / 49) is not 49 in double
    rng = np.random.default_rng(2)
    for factor in range(1, 110 if kernel is shrink else 60):
        for other in (1, 2, factor):
            for kind in ("noise", "ties"):
                assert_as_opencv(kernel, image(rng, kind, 2 * factor, 17 * other), 2, 17, simd)
                assert_as_opencv(kernel, image(rng, kind, 3 * other, 3 * factor), 3, 3, simd)


@pytest.mark.parametrize("size", [(240, 320), (120, 160), (200, 320), (480, 640), (225, 400), (300, 400)], ids=str)
def test_shrink_screens_of_doom(size, simd):
    rng = np.random.default_rng(5)
    for kind in KINDS:
        for target in ((84, 84), (60, 100), (48, 64), (120, 81), (72, 72), (64, 79)):
            assert_as_opencv(shrink, image(rng, kind, *size), *target, simd)


def test_shrink_large(kernel, simd):
    rng = np.random.default_rng(3)
    for size in ((84, 84), (479, 1000), (480, 640), (300, 33), (100, 250)):
        for kind in "noise", "extremes":
            assert_as_opencv(kernel, image(rng, kind, 480, 1000), *size, simd)


def test_shrink_read_only(simd):
    plane = image(np.random.default_rng(4), "noise", 210, 160)
    plane.flags.writeable = False
    assert_as_opencv(shrink, plane, 84, 84, simd)


def at_page_edges(values):
    # copies of the values that begin or end right at pages that must not be touched
    page = mmap.PAGESIZE
    inner = -(-values.size // page) * page
    memory = mmap.mmap(-1, inner + 2 * page)
    raw = np.frombuffer(memory, np.uint8)
    libc = ctypes.CDLL(None, use_errno=True)
    for guard in (0, page + inner):
        assert libc.mprotect(ctypes.c_void_p(raw.ctypes.data + guard), ctypes.c_size_t(page), 0) == 0
    for begin in (page, page + inner - values.size):
        edge = raw[begin : begin + values.size].reshape(values.shape)
        edge[...] = values
        yield edge


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mprotect as Linux has it")
def test_reads_nothing_outside(simd):
    rng = np.random.default_rng(5)
    table = image(rng, "noise", 1, 256)[0]
    for shape in ((210, 160), (250, 160), (33, 17), (20, 16), (9, 1)):
        for plane in at_page_edges(image(rng, "noise", *shape)):
            for height, width in ((84, 84), (96, 96), (64, 64), (13, 9), (8, 1), (1, 1), shape):
                if height <= shape[0] and width <= shape[1]:
                    for kernel in KERNELS:
                        assert_as_opencv(kernel, plane, height, width, simd)
            for kind in range(3):
                np.testing.assert_array_equal(pool_frames(plane, plane, table, simd=kind), table[plane])


@pytest.mark.parametrize("odd", ["none", "few", "many"])
@pytest.mark.parametrize("simd", range(3))
def test_pool_frames(odd, simd):
    rng = np.random.default_rng(6)
    share = {"none": 0, "few": 0.002, "many": 0.5}[odd]
    for count in [*range(70), *range(150, 200), 1000, 33600, 40000]:
        table = image(rng, "noise", 1, 256)[0]
        a = image(rng, "noise", 1, count)[0] & 0xFE
        # some stretches are the same in both frames
        b = np.where(np.arange(count) // 160 % 2, a, image(rng, "noise", 1, count)[0] & 0xFE)
        a |= rng.random(count) < share
        b |= rng.random(count) < share
        got = pool_frames(a, b, table, simd=simd)
        np.testing.assert_array_equal(got, np.maximum(table[a], table[b]), err_msg=f"{count} bytes")


@pytest.fixture(scope="module")
def frames():
    # per game: palette bytes and ALE's gray values of every fourth and its preceding frame
    ale_py = pytest.importorskip("ale_py")
    roms = pytest.importorskip("ale_py.roms")
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    rng = np.random.default_rng(7)
    found = {}
    for game in GAMES:
        ale = ale_py.ALEInterface()
        ale.setInt("random_seed", 7)
        ale.loadROM(roms.get_rom_path(game))
        actions = ale.getMinimalActionSet()
        found[game] = []
        for i in range(240):
            if i % 4 == 0:
                action = actions[rng.integers(len(actions))]
            if ale.game_over():
                ale.reset_game()
            ale.act(action)
            if i % 4 >= 2:
                found[game].append((ale.getScreen(), ale.getScreenGrayscale()))
    return found


@pytest.fixture(scope="module")
def gray_table(frames):
    # learnt from one frame each time a palette byte is new
    table = np.zeros(256, np.uint8)
    known = np.zeros(256, bool)
    for game in GAMES:
        for screen, gray in frames[game]:
            new = ~known[screen]
            table[screen[new]] = gray[new]
            known[screen] = True
    return table


@pytest.mark.parametrize("game", GAMES)
def test_real_frames(game, frames, gray_table, simd):
    pairs = frames[game]
    assert pairs[0][0].shape == (210, 160)
    for (screen_a, gray_a), (screen_b, gray_b) in zip(pairs[::2], pairs[1::2], strict=True):
        np.testing.assert_array_equal(gray_table[screen_a], gray_a)
        pooled = pool_frames(screen_a, screen_b, gray_table, simd=2 * simd)
        np.testing.assert_array_equal(pooled, np.maximum(gray_a, gray_b))
        for size in ((84, 84), (96, 96), (105, 80), (42, 40)):
            for kernel in KERNELS:
                assert_as_opencv(kernel, pooled, *size, simd)


PLANE = np.zeros((210, 160), np.uint8)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((PLANE, 211, 84), ValueError, r"height: expected 1 to 210, got 211"),
        ((PLANE, 84, 161), ValueError, r"width: expected 1 to 160, got 161"),
        ((PLANE, 0, 84), ValueError, r"height: expected 1 to 210, got 0"),
        ((PLANE, 84, -1), ValueError, r"width: expected 1 to 160, got -1"),
        ((PLANE, 84, 1 << 40), ValueError, r"width: expected 1 to 160, got 1099511627776"),
        ((PLANE, 84.0, 84), TypeError, r"height: expected an int, got float"),
        ((PLANE.tolist(), 84, 84), TypeError, r"plane: expected a numpy array, got list"),
        ((PLANE.astype(np.float32), 84, 84), TypeError, r"plane: expected dtype uint8, got float32"),
        ((PLANE[:, ::2], 84, 64), ValueError, r"plane: expected a C-contiguous array, got strides"),
        ((PLANE[None], 84, 84), ValueError, r"plane: expected shape \(rows, columns\).*got \(1, 210, 160\)"),
        ((PLANE[:0], 1, 1), ValueError, r"plane: expected shape \(rows, columns\).*got \(0, 160\)"),
        ((np.zeros((4096, 4096), np.uint8), 84, 84), ValueError, r"plane: expected at most 8388608 pixels"),
    ],
)
def test_shrink_refuses(arguments, error, message):
    for kernel in KERNELS:
        with pytest.raises(error, match=message):
            kernel(*arguments)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"b": PLANE[1:]}, ValueError, r"b: expected the same shape as a, \(210, 160\), got \(209, 160\)"),
        ({"table": np.zeros(128, np.uint8)}, ValueError, r"table: expected shape \(256,\), got \(128,\)"),
        ({"table": np.zeros(256)}, TypeError, r"table: expected dtype uint8, got float64"),
        ({"a": None}, TypeError, r"a: expected a numpy array, got NoneType"),
        ({"b": PLANE.T}, ValueError, r"b: expected a C-contiguous array, got strides"),
    ],
)
def test_pool_frames_refuses(change, error, message):
    arguments = {"a": PLANE, "b": PLANE, "table": np.zeros(256, np.uint8)}
    with pytest.raises(error, match=message):
        pool_frames(**arguments | change)


@pytest.mark.parametrize("simd", range(3))
def test_pool_frames_keeps_the_shape(simd):
    table = np.arange(256, dtype=np.uint8)
    for shape in ((0,), (3, 0), (2, 3, 5)):
        frame = np.ones(shape, np.uint8)
        assert pool_frames(frame, frame, table, simd=simd).shape == shape
