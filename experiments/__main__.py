"""``python -m experiments PAPER``: the experiments of a paper."""

import sys

from experiments.command import main

if __name__ == "__main__":
    sys.exit(main())
