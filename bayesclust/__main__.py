"""``python -m bayesclust``, the same as ``bayesclust``."""

import sys

from bayesclust.cli import main

if __name__ == "__main__":
    sys.exit(main())
