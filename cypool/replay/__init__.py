"""Replay buffers, which store a pool's transitions once and sample them, and histories of pools."""
