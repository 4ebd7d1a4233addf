"""``python -m eigenfeat.cli``."""

from eigenfeat.cli import main

if __name__ == "__main__":
    main()
