"""Tree search over the environments of a pool."""
