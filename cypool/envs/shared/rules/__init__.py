"""Environments whose rules are a C++ class, and their states."""
