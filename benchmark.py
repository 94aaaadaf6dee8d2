"""Measures how many frames per second cypool and its peers deliver on this machine: `cypool bench`, from a checkout."""
import sys

if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):
        # the script's folder: in a checkout its ./cypool is not compiled, the installed package is meant
        del sys.path[0]
    try:
        from cypool.tools.cli import main
    except ImportError as error:
        sys.exit(f'benchmark.py: {error}; for all it needs: pip install ".[bench]"')
    sys.exit(main(["bench", *sys.argv[1:]]))
