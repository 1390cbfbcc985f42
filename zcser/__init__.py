"""zcser: a zero-copy codec layer, and an honest bake-off of serialization formats."""
