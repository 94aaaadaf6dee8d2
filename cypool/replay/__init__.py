"""Replay buffers: store a pool's transitions once, and sample them."""
