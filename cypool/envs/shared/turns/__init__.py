"""Games in which players take turns."""
