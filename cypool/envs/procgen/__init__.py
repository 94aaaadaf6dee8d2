"""Procgen: sixteen games with random levels, played by procgen's own library."""
