"""``python -m similis`` is the ``similis`` command."""

from similis.cli import main

if __name__ == "__main__":
    main()
