"""``weir`` as a program for ``spark-submit``; its arguments are those of the command line."""

from weir.cli import main

if __name__ == "__main__":
    main()
