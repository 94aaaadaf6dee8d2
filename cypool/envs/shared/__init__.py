"""Code that families of environments share."""
