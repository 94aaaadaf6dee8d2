"""Creates pools: `assembly` builds the engine's pool, `factory` adds the API."""
