"""Board games with turns: tic-tac-toe, connect four, Othello, Breakthrough, Hex, Go and 2048."""
