"""Overcooked: cooks in a kitchen that cook and serve soups together."""
