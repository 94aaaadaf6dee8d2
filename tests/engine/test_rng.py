"""The draws of cypool/rng.h equal those of NumPy's Generator, and leave its stream where that does."""
import numpy as np
import pytest
from gymnasium.envs.toy_text.utils import categorical_sample

SEEDS = [0, 1, 2, 42, 123_456_789, 2**63 + 5]
BOUNDS = [
    (0, 1), (7, 8), (-5, -4), (0, 2), (0, 3), (0, 4), (0, 13), (-6, 7), (0, 300), (0, 2**31), (-2**31, 2**31 - 1),
    # of which many first draws are rejected
    (0, 2**31 + 1), (0, 3 * 2**30), (-17, 2**32 - 18),
    # the last ranges that take 32 bits, the first that take 64
    (0, 2**32 - 1), (0, 2**32), (0, 2**32 + 1), (5, 2**32 + 6),
    (0, 2**33), (0, 3 * 2**61), (-2**62, 2**62 + 1), (-2**63, 2**63 - 1), (-2**63, 0),
]


@pytest.fixture
def draws(walker):
    from walker import functions

    return functions


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("low, high", BOUNDS)
def test_integers_equal_numpy(draws, seed, low, high):
    mine, numpy = np.random.PCG64(seed), np.random.Generator(np.random.PCG64(seed))
    # from the second half of a 64-bit number as well
    for _ in range(3):
        got = draws.draw_integers(mine, low, high, 201)
        assert got == [int(numpy.integers(low, high)) for _ in range(201)]
        assert mine.state == numpy.bit_generator.state
        assert draws.draw_integers(mine, 0, 5, 1) == [numpy.integers(0, 5)]


@pytest.mark.parametrize("seed", SEEDS)
def test_integers_of_many_bounds_equal_numpy(draws, seed):
    mine, numpy = np.random.PCG64(seed), np.random.Generator(np.random.PCG64(seed))
    bounds = np.random.default_rng(99)
    for bits in range(1, 63):
        for _ in range(20):
            low = int(bounds.integers(-2**62, 2**62))
            high = low + int(bounds.integers(1, 2**bits + 1))
            assert draws.draw_integers(mine, low, high, 2) == [numpy.integers(low, high), numpy.integers(low, high)]
    assert mine.state == numpy.bit_generator.state


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("items", [["J", "Q", "K"], ["C", "D", "H", "S"], list(range(13)), [3], list(range(1000))])
def test_choice_equals_numpy(draws, seed, items):
    mine, numpy = np.random.PCG64(seed), np.random.Generator(np.random.PCG64(seed))
    got = draws.draw_integers(mine, 0, len(items), 501)
    assert [items[k] for k in got] == [numpy.choice(items) for _ in range(501)]
    assert mine.state == numpy.bit_generator.state


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("probabilities", [
    [1.0], [1 / 3] * 3, [0.45, 0.1, 0.45], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.8, 0.1, 0.1], [1 / 300] * 300,
    [0.0, 0.0, 1.0], [0.1] * 10,
    # the rest of a sum below one goes to the first
    [0.1, 0.2, 0.1], [0.0, 0.5], [0.25],
])
def test_categories_equal_gymnasium(draws, seed, probabilities):
    mine, numpy = np.random.PCG64(seed), np.random.Generator(np.random.PCG64(seed))
    got = draws.draw_categories(mine, np.cumsum(probabilities).tolist(), 1000)
    assert got == [categorical_sample(probabilities, numpy) for _ in range(1000)]
    assert mine.state == numpy.bit_generator.state


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7, 64, 65, 1000])
def test_shuffle_equals_numpy(draws, seed, count):
    mine, numpy = np.random.PCG64(seed), np.random.Generator(np.random.PCG64(seed))
    # from the second half of a 64-bit number as well
    for _ in range(9):
        items = list(range(count))
        got = draws.draw_shuffled(mine, items)
        numpy.shuffle(items)
        assert got == items and mine.state == numpy.bit_generator.state


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("low, high", [(0, 1), (-0.05, 0.05), (-3, 1e9)])
def test_doubles_equal_numpy(draws, seed, low, high):
    mine, numpy = np.random.PCG64(seed), np.random.Generator(np.random.PCG64(seed))
    assert draws.draw_doubles(mine, low, high, 1000) == numpy.uniform(low, high, 1000).tolist()
    assert draws.draw_doubles(mine, 0, 1, 1000) == [numpy.random() for _ in range(1000)]
    assert mine.state == numpy.bit_generator.state


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mean, deviation", [(0, 1), (3.5, 0.001), (-1e9, 1e-3), (0, 1e300), (2, 0)])
def test_normal_equals_numpy(draws, seed, mean, deviation):
    mine, numpy = np.random.PCG64(seed), np.random.Generator(np.random.PCG64(seed))
    # of many draws some come from the tails, which take several numbers
    got = draws.draw_normals(mine, mean, deviation, 5000)
    assert got == [numpy.normal(mean, deviation) for _ in range(5000)]
    assert mine.state == numpy.bit_generator.state


@pytest.mark.parametrize("method", ["integers", "shuffle", "uniform", "normal"])
def test_a_numpy_that_draws_otherwise_is_an_error_at_import(run_python, method):
    done = run_python(f"""
import numpy.random
class Other(numpy.random.Generator):
    def {method}(self, *args):
        super().random()
        return super().{method}(*args)
numpy.random.Generator = Other
try:
    import cypool.random
except ImportError as error:
    print(error)
""")
    assert done.stdout.startswith("cypool: environments draw ") and f" Generator.{method} in numpy " in done.stdout
    assert f" in numpy {np.__version__} draws " in done.stdout
    assert done.stdout.endswith(": pip install 'numpy==2.4.*'\n")
