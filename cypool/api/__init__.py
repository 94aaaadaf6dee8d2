"""One module for each API of a pool, and their base."""
