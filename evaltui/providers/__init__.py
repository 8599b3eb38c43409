"""One module per kind of endpoint: a request in, a completion or a typed failure out."""
