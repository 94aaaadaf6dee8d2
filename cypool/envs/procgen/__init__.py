"""Procgen: sixteen games with levels of chance, played by procgen's own library."""
