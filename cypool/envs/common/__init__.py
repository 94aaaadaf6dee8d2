"""What families of environments share."""
