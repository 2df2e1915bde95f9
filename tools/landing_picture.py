"""Draw the first picture of README and documentation, legible on a phone: the answers of the demo.

Run by ``python tools/landing_picture.py`` from the root of a clone.
"""

import sys
from pathlib import Path

import matplotlib

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 4.2, 2.7
"""In inches: letters of ten points are ten pixels high on a phone."""


def main() -> None:
    """Fit as ``make demo`` does, and draw."""
    sys.path.insert(0, str(ROOT))
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    import bayesclust as bc
    from experiments import demo

    run = demo.fit()
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    ax = bc.plots.credibility(run.sampler, flipped=run.wrong, ax=figure.add_subplot())
    for note in list(ax.texts):  # too small to be read
        note.remove()
    ax.set_xlabel("posterior probability that the answer is right\n(shaded: probably wrong)")
    figure.savefig(ROOT / "docs/_static/credibility.png", dpi=200, metadata={"Software": None})


if __name__ == "__main__":
    main()
