"""NetHack: the NetHack Learning Environment."""
