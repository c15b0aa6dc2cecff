"""`python -m hierbandits` is the command `hierbandits`."""

from hierbandits.cli import main

if __name__ == "__main__":
    main()
