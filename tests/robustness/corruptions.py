"""Bad values for each sort of argument."""

from tests.robustness import bad_data as data
from tests.robustness import bad_settings as settings

SORTS = {
    "items": data.of_items,
    "new items": lambda good, rng: data.of_items(good, rng, least=1),
    "items with gaps": data.of_items_with_gaps,
    "labels": data.of_labels,
    "integer labels": data.of_integer_labels,
    "draws": data.of_draws,
    "tree": data.of_tree,
    "answered": data.of_answered,
    "views": data.of_views,
    "tuples": data.of_tuples,
    "answers": data.of_answers,
    "sources": data.of_sources,
    "matrix": settings.of_matrix,
    "rows": settings.of_rows,
    "count": settings.of_count,
    "natural": lambda good, rng: settings.of_count(good, rng, least=0),
    "choice": settings.of_choice,
    "seed": settings.of_seed,
    "loss": settings.of_loss,
    "name": settings.of_name,
    "noise": settings.of_noise,
    "prior": settings.of_prior,
    "amount": settings.of_amount,
    "axes": settings.of_axes,
    "flags": settings.of_flags,
    "path": settings.of_path,
    "file": settings.of_file,
    "points": data.of_points,
    "indices": settings.of_indices,
    "estimator": settings.of_estimator,
    "family": settings.of_family,
    "weights": settings.of_weights,
    "stored": data.of_stored,
    "stored dataset": data.of_stored_dataset,
    "label tuples": data.of_label_tuples,
    "item labels": data.of_item_labels,
    "integer array": data.of_integer_array,
    "draws array": data.of_draws_array,
    "label rows": data.of_label_rows,
    "class labels": data.of_class_labels,
    "loss object": settings.of_loss_object,
    "cluster numbers": settings.of_cluster_numbers,
    "methods": settings.of_methods,
    "differences": settings.of_differences,
    "table": settings.of_table,
    "path table": settings.of_path_table,
    "questions": settings.of_questions,
    "question": settings.of_question,
    "query strategy": settings.of_query_strategy,
    "target": settings.of_target,
    "anything else": settings.of_anything_else,
}
"""What can be wrong with each sort; intervals such as "(0, 1]" are sorts too, and "optional ..." may be None."""


def corruptions(sort, good, rng):
    """All bad values of a sort, in a fixed order."""
    optional = sort.startswith("optional ")
    sort = sort.removeprefix("optional ")
    found = list(settings.of_number(good, rng, sort) if sort[0] in "([" else SORTS[sort](good, rng))
    return [value for value in found if not (optional and value is None)]
