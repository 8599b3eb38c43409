"""One module per verb, named after it."""
