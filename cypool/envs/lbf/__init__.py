"""Level-based foraging: players on a grid who collect food together."""
