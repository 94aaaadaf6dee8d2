"""From a spec to a pool: `assembly` puts a pool together, `factory` adds the API."""
