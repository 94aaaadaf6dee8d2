"""Stored transitions and episodes: replay buffers, whose transitions are sampled, and histories."""
