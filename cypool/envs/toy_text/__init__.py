"""Toy text: small worlds of numbered states, and games of cards and chance."""
