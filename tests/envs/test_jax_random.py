"""jax_random.h draws what jax.random draws: 200,000 numbers of each function, slow: a million; and sums as XLA does."""
import ctypes

import numpy as np
import pytest
from envs.test_numpy_math import compiled
from markers import exhaustive

pytestmark = pytest.mark.large_packages
jax = pytest.importorskip("jax")

SOURCE = """
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport PyArray_DATA, ndarray

cdef extern from "cypool/envs/shared/numerics/jax_random.h" namespace "cypool::jax" nogil:
    cdef cppclass Key:
        uint32_t a, b
    Key prng_key(int64_t seed)
    Key subkey(Key key, uint32_t i)
    Key take(Key& key)
    uint32_t bits(Key key, uint32_t i)
    void many_bits(Key key, uint32_t i, uint32_t* out)
    float uniform(Key key, uint32_t i)
    int32_t randint(Key key, int32_t low, int32_t high, uint32_t i)
    int choice(Key key, const float* shares, int count)
    void cumsum(const float* numbers, int count, float* sums)
    void permutation(Key key, int32_t* order, int count)

cdef extern from "cypool/envs/shared/numerics/xla_math.h" namespace "cypool::jax" nogil:
    cdef struct SineCosine:
        float sine, cosine
    SineCosine sine_cosine(float angle)
    float fused(float a, float b, float c)
    void fused_row "cypool::jax::fused_row<1000>"(const float* a, float less, float b, const float* c, float* out)

cdef Key key_of(pair):
    cdef Key key
    key.a, key.b = pair[0], pair[1]
    return key

def first_key(seed):
    cdef Key key = prng_key(seed)
    return key.a, key.b

def split(pair, n):
    cdef Key key
    found = []
    for i in range(n):
        key = subkey(key_of(pair), i)
        found.append((key.a, key.b))
    return found

def taken(pair):
    cdef Key key = key_of(pair)
    cdef Key other = take(key)
    return (key.a, key.b), (other.a, other.b)

def drawn(str name, pair, ndarray out, int low=0, int high=1):
    cdef Key key = key_of(pair)
    cdef uint32_t i
    for i in range(<uint32_t>len(out)):
        if name == "bits":
            (<uint32_t*>PyArray_DATA(out))[i] = bits(key, i)
        elif name == "uniform":
            (<float*>PyArray_DATA(out))[i] = uniform(key, i)
        else:
            (<int32_t*>PyArray_DATA(out))[i] = randint(key, low, high, i)

def drawn_at_once(pair, ndarray out):
    cdef uint32_t i
    for i in range(0, <uint32_t>len(out), 8):
        many_bits(key_of(pair), i, &(<uint32_t*>PyArray_DATA(out))[i])

def chosen(pair, ndarray shares):
    return choice(key_of(pair), <const float*>PyArray_DATA(shares), <int>len(shares))

def summed(ndarray numbers, ndarray out):
    cumsum(<const float*>PyArray_DATA(numbers), <int>len(numbers), <float*>PyArray_DATA(out))

def permuted(pair, ndarray out):
    permutation(key_of(pair), <int32_t*>PyArray_DATA(out), <int>len(out))

def sines(ndarray angles, ndarray sine, ndarray cosine):
    cdef SineCosine found
    for i in range(len(angles)):
        found = sine_cosine((<float*>PyArray_DATA(angles))[i])
        (<float*>PyArray_DATA(sine))[i], (<float*>PyArray_DATA(cosine))[i] = found.sine, found.cosine

def row_of(ndarray a, float b, ndarray c, ndarray out):
    fused_row(<const float*>PyArray_DATA(a), 0.25, b, <const float*>PyArray_DATA(c), <float*>PyArray_DATA(out))

def fused_of(ndarray a, ndarray b, ndarray c, ndarray out):
    for i in range(len(a)):
        (<float*>PyArray_DATA(out))[i] = fused((<float*>PyArray_DATA(a))[i], (<float*>PyArray_DATA(b))[i],
                                               (<float*>PyArray_DATA(c))[i])
"""
KEYS = [(0, 0), (0, 7), (2**32 - 1, 2**31), (123456789, 987654321)]
COUNT = pytest.mark.parametrize("count", [50_000, *exhaustive(250_000)])


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    return compiled(SOURCE, tmp_path_factory.mktemp("probe"))


def array_of(key):
    return jax.numpy.array(key, jax.numpy.uint32)


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1, -1, -5])
def test_keys_of_seeds(probe, seed):
    key = jax.random.PRNGKey(seed)
    assert probe.first_key(seed) == tuple(key.tolist())
    assert probe.split(key.tolist(), 5) == [tuple(each) for each in jax.random.split(key, 5).tolist()]
    assert [list(each) for each in probe.taken(key.tolist())] == jax.random.split(key).tolist()


@COUNT
@pytest.mark.parametrize("key", KEYS)
def test_numbers(probe, key, count):
    bits, units = np.empty(count, np.uint32), np.empty(count, np.float32)
    probe.drawn_at_once(key, bits)
    assert np.array_equal(bits, jax.random.bits(array_of(key), (count,)))
    probe.drawn("bits", key, bits)
    probe.drawn("uniform", key, units)
    assert np.array_equal(bits, jax.random.bits(array_of(key), (count,)))
    assert np.array_equal(units, jax.random.uniform(array_of(key), (count,)))


@COUNT
@pytest.mark.parametrize("low, high", [(0, 4), (0, 6), (5, 10), (-7, 1), (3, 3), (0, 2**31 - 1), (0, 65536),
                                       (0, 65537)])
def test_integers(probe, low, high, count):
    out = np.empty(count, np.int32)
    probe.drawn("randint", KEYS[3], out, low, high)
    assert np.array_equal(out, jax.random.randint(array_of(KEYS[3]), (count,), low, high))


@pytest.mark.parametrize("count", [2, 4, 5, 8, 9, 16, 17, 100, 144, 256, 257, 2304, 4096])
def test_choices_and_sums(probe, count):
    random = np.random.default_rng(count)
    cumsum = jax.jit(jax.numpy.cumsum)
    choose = jax.jit(lambda key, shares: jax.random.choice(key, jax.numpy.arange(count), p=shares))
    for k in range(25):
        shares = (random.random(count) < 0.5).astype(np.float32) if k % 2 else random.random(count).astype(np.float32)
        shares = shares / max(shares.sum(), np.float32(1)) if k % 3 else shares
        sums = np.empty(count, np.float32)
        probe.summed(shares, sums)
        assert np.array_equal(sums, cumsum(shares))
        key = tuple(random.integers(0, 2**32, 2).tolist())
        assert probe.chosen(key, shares) == choose(array_of(key), shares)
    nothing = np.full(count, np.nan, np.float32)
    assert probe.chosen(KEYS[1], nothing) == choose(array_of(KEYS[1]), nothing) == 0


@pytest.mark.parametrize("count", [1, 2, 6, 100, 1625])
def test_permutations(probe, count):
    for key in KEYS:
        out = np.empty(count, np.int32)
        probe.permuted(key, out)
        assert np.array_equal(out, jax.random.permutation(array_of(key), count))


def test_sines_are_those_of_glibc(probe):
    """Of each angle that a unit of jax.random gives."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        pytest.skip("another C library")
    units = np.arange(0, 2**23, 61, dtype=np.float32) * np.float32(2**-23)
    angles = units * np.float32(6.28318530717958647692)
    sine, cosine = np.empty_like(angles), np.empty_like(angles)
    probe.sines(angles, sine, cosine)
    for name, found in (("sinf", sine), ("cosf", cosine)):
        function = getattr(ctypes.CDLL("libm.so.6"), name)
        function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float]
        assert found.tolist() == [function(angle) for angle in angles.tolist()]


def test_fused_numbers_are_rounded_once(probe):
    random = np.random.default_rng(0)
    a, b, c = (random.uniform(-1, 1, 100_000).astype(np.float32) for _ in range(3))
    # just below the half between two floats, where rounding twice goes wrong
    a[:1000], b[:1000], c[:1000] = 1 + 2**-23, 2**-24 * (1 - 2**-23), 1 + 2**-23
    c[1000:2000] = -(a * b)[1000:2000]
    out = np.empty_like(a)
    probe.fused_of(a, b, c, out)
    function = ctypes.CDLL("libm.so.6").fmaf
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    assert out.tolist() == [function(*each) for each in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    # a row with such a half has the same numbers
    a[500:1000], b[:] = random.uniform(0, 1, 500), b[0]
    probe.row_of(a[:1000] + np.float32(0.25), b[0], c[:1000], row := np.empty(1000, np.float32))
    a = a[:1000] + np.float32(0.25) - np.float32(0.25)
    assert row.tolist() == [function(*each) for each in zip(a, b[:1000], c[:1000], strict=True)]
