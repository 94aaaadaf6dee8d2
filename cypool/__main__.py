"""Runs the `cypool` command: `python -m cypool`."""
import sys

from cypool.tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
