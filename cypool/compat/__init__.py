"""Modules with the names and conventions of other libraries, so that scripts for those run on cypool."""
