"""`python -m phcle` is the command `phcle`."""

from phcle.cli import main

if __name__ == "__main__":
    main()
