"""Domain types and the arithmetic that needs no I/O: stdlib and numpy only."""
