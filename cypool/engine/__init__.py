"""The engine: pools, threads, and the batches they fill; docs/explanation/design.md has the map."""
