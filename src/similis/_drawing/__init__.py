"""Picture descriptions and their renderers."""
