"""OpenSpiel games, played by OpenSpiel's installed library."""
