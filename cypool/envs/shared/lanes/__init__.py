"""Steps MuJoCo environments several at a time."""
