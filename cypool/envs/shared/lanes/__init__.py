"""Steps of environments that MuJoCo simulates, several at once."""
