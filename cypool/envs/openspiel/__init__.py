"""Games of OpenSpiel, whose installed library plays them."""
