"""Turn-based board games: tic-tac-toe, connect four, Othello, Breakthrough, Hex, Go, backgammon and 2048."""
