"""Crafter: an open world of survival."""
