"""Packages that families read files from or are compared with."""
