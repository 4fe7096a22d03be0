"""`python -m analyzer` is the `backline` command."""

from analyzer.cli import main

if __name__ == "__main__":
    main()
