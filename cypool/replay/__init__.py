"""Replay buffers: transitions of a pool, stored once, and samples of them."""
