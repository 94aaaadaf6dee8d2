"""What modules of all floors share: checks of arguments, types, the build's and users' cache, and waiting on a word."""
