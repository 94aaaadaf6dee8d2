"""Arguments of pools that tests run through."""

# none, one, two, and more than there are processors
THREADS = [0, 1, 2, 7]
MODES = ["NextStep", "SameStep", "Disabled"]
