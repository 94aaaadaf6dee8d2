# Options of a reset, on their way to the environments, or to the backend that steps them.
from libc.stdint cimport int32_t, uint32_t

from cypool.env_methods cimport give_options
from cypool.backend cimport StepBackend
from cypool.env cimport Env


cdef object give_reset_options(list envs, StepBackend backend, const int32_t* ids, uint32_t count, object options):
    """Passes options to environments, before anything is reset.

    Args:
        envs: The environments of the pool, by id.
        backend: Steps them, or None.
        ids: The environments that are reset.
        count: Their number.
        options: A dict for all of them, or a list with a dict or None for each.

    Returns:
        For a backend: packed options by id; else None.

    Raises:
        TypeError, ValueError: Some are wrong, or cannot be packed. Then no environment gets any.
    """
    cdef uint32_t k
    rows = [options] * count if isinstance(options, dict) else options
    # not only users pass options: a history repeats those in its file
    if type(rows) is not list or len(rows) != <Py_ssize_t>count:
        raise ValueError(f"options: expected a dict, or a dict or None for each of {count} environments")
    for row in rows:
        if row is not None and type(row) is not dict:
            raise TypeError(f"options: expected a dict or None for each environment, got {type(row).__name__}")
    if backend is not None:
        return _packed(backend, ids, rows)
    for k in range(count):
        if not rows[k]:
            continue
        try:
            give_options(<Env>envs[ids[k]], rows[k])
        except BaseException:
            # nothing is reset, now or later
            while k > 0:
                k -= 1
                if rows[k]:
                    give_options(<Env>envs[ids[k]], {})
            raise
    return None


cdef object _packed(StepBackend backend, const int32_t* ids, list rows):
    packed, last, data = {}, None, None
    for k, row in enumerate(rows):
        if row is None:
            continue
        if row is not last:
            # often the same for all
            last, data = row, backend.pack_options(row)
        packed[ids[<uint32_t>k]] = data
    return packed
