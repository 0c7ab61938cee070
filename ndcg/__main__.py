"""The command line, as `python -m ndcg`."""

import sys

from .shell.command_line import main

if __name__ == "__main__":
    sys.exit(main())
