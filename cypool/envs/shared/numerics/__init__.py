"""Arithmetic that is bit-identical to NumPy, JAX and XLA."""
