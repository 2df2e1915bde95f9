"""Sessions in which an expert corrects a clustering answer by answer: in a notebook, or at the command line."""

from bayesclust.session.interactive import InteractiveSession

__all__ = ["InteractiveSession"]
