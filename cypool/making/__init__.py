"""From an id to a pool: `registry` finds an environment, `assembly` puts its pool together, `factory` adds the API."""
