"""Refusals at the door: a ValueError or TypeError of the package, in one sentence that says what of."""

import re
import traceback
import warnings

ACCEPTED_ELSEWHERE = {
    ("sklearn.utils.validation", "_check_n_features"),
    ("sklearn.utils.validation", "_check_feature_names"),
    ("sklearn.utils.validation", "_get_feature_names"),
    ("sklearn.utils.validation", "check_is_fitted"),
}
"""scikit-learn's own sentences about features that changed since the fit, and estimators without a fit."""
LONGEST = 1000


def outcome(entry, argument, value):
    """Call an entry with one argument replaced; return the error, or None where it was taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            entry.call(**{**entry.good(), argument: value})
        except Exception as error:
            return error
    return None


def faults(error, argument):
    """What is wrong with an error as a refusal, in words; nothing where it is right."""
    if error is None:
        return ["was taken"]
    found = []
    if not isinstance(error, (ValueError, TypeError)):
        found.append(f"is a {type(error).__name__}")
    *_, last = traceback.walk_tb(error.__traceback__)
    where = last[0].f_globals.get("__name__", "?")
    if (
        not where.startswith("bayesclust.")
        and (where, last[0].f_code.co_name) not in ACCEPTED_ELSEWHERE
    ):
        found.append(f"comes from {where}:{last[1]}")
    sentence = str(error)
    if not sentence.endswith((".", "?", "...")) or "\n" in sentence or len(sentence) > LONGEST:
        found.append("is not one sentence")
    if not re.search(rf"\b({'|'.join(map(re.escape, words(argument)))})", sentence):
        found.append(f"does not name {argument}")
    return found


WORDS = {
    "posterior": ["z", "draws", "labels", "group", "stored", "constraints"],
    "first": ["z", "draws", "labels", "posterior", "group"],
    "second": ["z", "draws", "labels", "posterior", "group"],
    "z": ["labels"],
    "components": ["labels"],
    "views": ["constraints", "answers"],
    "answers": ["same"],
    "question": ["pairs", "triplets"],
    "questions": ["pairs", "triplets"],
    "estimates": ["labels", "draws"],
    "draws": ["labels"],
    "random_state": ["seed"],
    "seed": ["random_state"],
}
"""Other words by which an argument may be called: one shared door speaks of draws, constraints and random_state."""


def words(argument):
    return [argument, *WORDS.get(argument, ())]
