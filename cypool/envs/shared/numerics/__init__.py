"""Numbers with the bits of NumPy's, JAX's and XLA's."""
