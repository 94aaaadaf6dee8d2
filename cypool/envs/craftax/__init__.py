"""Craftax: open worlds that were written in JAX."""
