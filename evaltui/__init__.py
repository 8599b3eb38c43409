"""evaltui: watch the noise of an LLM evaluation from the terminal."""

__version__ = "0.1.0"
