"""Overcooked: cooks who prepare and serve soups together."""
