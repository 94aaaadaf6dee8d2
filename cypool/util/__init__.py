"""Parts for modules of all layers: checks of arguments, types, texts, the cache of builds, and waiting on a word."""
