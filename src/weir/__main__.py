"""``python -m weir``."""

from weir.cli.main import main

if __name__ == "__main__":
    main()
