# by .ci/stubs: not to be edited
KEYS: frozenset
