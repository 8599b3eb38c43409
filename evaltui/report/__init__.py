"""One report model, rendered as text or JSON; the screen shows the same model."""
