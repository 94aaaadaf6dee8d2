"""Modules with the names and conventions of other libraries, so that scripts written for them run on cypool."""
