"""Both originals as they are written, mistakes included: whatever is wrong with them, the suite must find by itself."""
