"""What a pool has done: replay buffers, which store its transitions once and sample them, and histories."""
