"""Classic control: Gymnasium's small mechanical systems."""
