"""Level-based foraging: players on a grid who load food together."""
