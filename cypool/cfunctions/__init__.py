"""Functions in C that pools call: those that users pass, and networks."""
