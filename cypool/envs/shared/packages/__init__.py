"""Packages that families read from or are compared with."""
