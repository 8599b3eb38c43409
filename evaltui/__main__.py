"""``python -m evaltui``: how one evaltui process starts another."""

from evaltui.cli import main

if __name__ == "__main__":
    main()
