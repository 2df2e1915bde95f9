"""The documentation is consistent: nothing public is missing, the page of equations is true.

The site itself is built by `make docs`, where warnings are errors.
"""

import ast
import builtins
import doctest
import importlib
import importlib.util
import inspect
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import bayesclust as bc
from tests.test_readme import names_after

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SECTIONS = tomllib.loads((DOCS / "equations.toml").read_text(encoding="utf-8"))["section"]
ENTRIES = [(section["title"], entry) for section in SECTIONS for entry in section["entry"]]


def extension(name):
    """One of the files in docs/_ext, which Sphinx finds by its own path."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"_ext/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def resolve(name):
    """The object of a dotted name, as a user reaches it if possible, and its module."""
    parts = name.split(".")
    for cut in (1, *range(len(parts), 1, -1)):
        try:
            module = value = importlib.import_module(".".join(parts[:cut]))
            for attribute in parts[cut:]:
                value = getattr(value, attribute)
        except (ModuleNotFoundError, AttributeError):
            continue
        return value, inspect.getmodule(value) or module
    raise ModuleNotFoundError(name)


def equations_named(text):
    """All equations that a text names: in "Eq. 3, 4 and 7" three, in "Eq. 16 to 19" four."""
    found = set()
    for several in re.findall(r"Eq\. (\d+(?:(?:, | and | to )\d+)*)", text):
        numbers = [int(number) for number in re.findall(r"\d+", several)]
        found |= set(range(numbers[0], numbers[-1] + 1)) if " to " in several else set(numbers)
    return {f"Eq. {number}" for number in found}


def names(text, equation):
    plain = re.sub(r"[()]", "", " ".join(text.split()))
    return equation in equations_named(plain) if equation.startswith("Eq. ") else equation in plain


@pytest.mark.parametrize(
    ("paper", "entry"),
    ENTRIES,
    ids=lambda part: part if isinstance(part, str) else part["equation"],
)
def test_the_page_of_equations_is_true(paper, entry):
    for name in entry["code"]:
        value, module = resolve(name)
        text = f"{inspect.getdoc(value)}\n{inspect.getdoc(module)}"
        assert names(text, entry["equation"]), (
            f"neither {name} nor its module names {entry['equation']}"
        )
    for test in entry["tests"]:
        path, _, function = test.partition("::")
        assert re.search(rf"^def {function}\(", (ROOT / path).read_text(encoding="utf-8"), re.M), (
            test
        )


def test_no_equation_is_listed_twice():
    papers = [section["title"] for section in SECTIONS]
    entries = [(paper, entry["equation"], entry["title"]) for paper, entry in ENTRIES]
    assert (len(set(papers)), len(set(entries))) == (len(papers), len(entries))


WORDS = {2: "two", 3: "three", 5: "five", 10: "ten", 12: "twelve", 18: "eighteen", 20: "twenty"}
WORDS |= {100: "hundred"}


def statements():
    """Sentences of the docs with a number in them, made of what the code says, by page."""
    from bayesclust import cli
    from bayesclust.active import posterior_queries
    from bayesclust.constraints.pairwise import GRADES
    from bayesclust.estimators import cluster_models
    from bayesclust.inference import runner
    from bayesclust.inference.limits.rdp_means import MANY_ITEMS
    from bayesclust.inference.limits.tuning import CLASSES, FEWEST_ANSWERS, FOLDS
    from bayesclust.plots import answers
    from bayesclust.posterior import diagnosis
    from bayesclust.report.text import STRAY

    (a, b), alpha = bc.LinkNoise().p, bc.partition_priors.DirichletProcess
    prior, two = ((own.simulate(150, seed=0).max(axis=-1) + 1) for own in (alpha(), alpha(2.0)))
    low, high = np.quantile(prior, [0.025, 0.975]).round().astype(int)
    sure, wrong = posterior_queries.ANNOTATOR.p
    many, some = cluster_models.MANY_COLUMNS, sorted(cluster_models.COMPONENTS)
    few = WORDS[FEWEST_ANSWERS]
    queries = bc.active.PosteriorQueries()
    est = bc.TVClust()
    yield "howto/choosing_priors", "Gamma({:g}, {:g})".format(*alpha().concentration)
    yield "howto/choosing_priors", f"Beta({a:g}, {b:g}) each"
    yield "howto/choosing_priors", "Beta({:g}, {:g}), learned".format(*bc.UniformNoise().eps)
    yield "howto/choosing_priors", f"{low} to {high} clusters (95%), {prior.mean():.0f} on average"
    yield "howto/choosing_priors", f"DirichletProcess(2.0)` expects {two.mean():.0f}"
    yield "howto/several_annotators", f"is Beta({a:g}, {b:g})"
    yield "howto/not_gaussian", f"fewer than {few} answers"
    yield "howto/not_gaussian", f"on {FOLDS - 1} of {FOLDS} answers"
    yield "howto/labels", f"at least {cluster_models.PER_CLASS} labelled items for each class"
    yield "howto/not_gaussian", f"classifiers of {', '.join(map(str, CLASSES[:4]))}, ... classes"
    yield (
        "howto/not_gaussian",
        "more than {} columns it takes mixtures of {}, {} or {}".format(many, *some),
    )
    yield (
        "howto/not_gaussian",
        f"fewer than {cluster_models.ENOUGH} answers have been held out, what comes close is run "
        f"with up to {WORDS[cluster_models.MOST_PARTS]} other fifths",
    )
    yield "howto/not_gaussian", f"also tries the power {cluster_models.WEAKER:g}"
    yield "howto/choosing_a_family", f"up to about {many} columns"
    yield "howto/graded_answers", f"{WORDS[len(GRADES)]} grades"
    yield "howto/graded_answers", f"{WORDS[bc.constraints.GradeNoise().strength]} answers of either"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    python = project["requires-python"].removeprefix(">=")
    yield "../README", f"a Python of at least {python}"
    yield "index", f"Python {python} or newer"
    yield "../CHANGELOG", f"of more than {MANY_ITEMS:,} items samples decide"
    yield "../README", f"Given {few} constraints or more"
    yield "../README", "compiles for " + runner.COMPILING.partition(": ")[2]
    yield "limits", f"Below {few} constraints"
    yield "limits", f"one to {WORDS[STRAY]} outlying items"
    yield "glossary", f"Clusters of one to {WORDS[STRAY]} items"
    yield "howto/chains_disagree", f"R-hat a little above {diagnosis.MAX_RHAT}"
    yield "howto/asking_questions", f"a {WORDS[queries.num_draws]} weighted draws"
    yield "howto/asking_questions", f"one answer in {WORDS[round((sure + wrong) / wrong)]}"
    yield "howto/asking_questions", f"as if {WORDS[round(sure + wrong)]} answers"
    yield "howto/choosing_a_family", f"{34 * 35 // 2} of 34 columns"
    draws = est.num_warmup + runner.usual_draws(150)
    yield "howto/large_data", f"{draws} sweeps in each of {est.num_chains} chains"
    yield "howto/own_table", f"({est.num_warmup} and {runner.usual_draws(150)} by default)"
    level = inspect.signature(bc.credible_ball).parameters["level"].default
    yield "glossary", f"point estimate that holds {level:.0%} of the posterior"
    yield "choose_a_model", f"the sampler's {level:.0%} credible ball"
    yield "howto/command_line", f"{cli.REFUSED} refused"
    yield "howto/command_line", f"{cli.MISUSED} misused; {cli.INTERRUPTED} interrupted"
    assert f"more than {answers.MOST_DRAWN}" in (DOCS / "gallery.rst").read_text(encoding="utf-8")


def sizes():
    """The same of the sizes that benchmarks measure."""
    from bayesclust.estimators import extension
    from bayesclust.inference import runner
    from benchmarks import (
        blocked_iteration,
        blocked_scale,
        dcrc_fit,
        minimal_modification,
        scale,
        whole_fits,
    )

    collapsed, blocked = max(whole_fits.SIZES)[0], max(blocked_iteration.SHAPES)[0]
    most = {name: f"{case.items:,}" for name, case in scale.CASES.items()}
    letters = len(minimal_modification.letters(np.random.default_rng(0))[0])
    yield "../README", f'to {collapsed:,}; `sampler="blocked"` to {blocked:,} |'
    limits = f"{most['RDPMeans']}, spectral to {most['SpectralRDPMeans']}"
    yield "../README", f"| one partition | to {limits} |"
    yield "../README", f'`inference="gibbs"` | to {round(dcrc_fit.WHOLE[0], -3):,} |'
    yield "../README", f"one partition, metric | to {most['MPCKMeans']} |"
    yield "../README", f"| to {letters:,}, {minimal_modification.CONSTRAINTS:,} constraints |"
    yield "howto/large_data", f"up to about {collapsed:,} | `bc.TVClust()`"
    yield "howto/large_data", f"about {collapsed:,} to {blocked:,};"
    yield "limits", f"up to some {blocked:,} items"
    yield "choose_a_model", f"more than {blocked:,} items"
    wrong = WORDS[round(1 / blocked_scale.WRONG)]
    columns, clusters = blocked_scale.COLUMNS, blocked_scale.CLUSTERS
    yield "howto/large_data", f"{columns} columns, {clusters} clusters, one link in {wrong} wrong"
    sweeps = WORDS[scale.SHORT["num_warmup"] + scale.SHORT["num_samples"]]
    yield "howto/large_data", f"Samplers ran {sweeps} sweeps of one chain"
    for n, d, K, number in whole_fits.SIZES:
        yield "howto/large_data", f"| {n:,} | {d} | {K} | {number:,} |"
    for n, number in {case[1:3] for case in scale.CASES.values()}:
        yield "howto/large_data", f"| {n:,} | {f'{number:,}' if number else 'none'} |"
    warmup, draws = bc.TVClust().num_warmup, runner.usual_draws(150)
    share = (extension.WARMUP * warmup + extension.SAMPLES * draws) / (warmup + draws)
    # about as much again goes into what follows from the draws, and into more items
    yield "limits", f"a {WORDS[round(1 / (2 * share))]}th of a fit's cost"


def test_numbers_in_sentences_are_those_of_the_code():
    told = [*statements(), *sizes()]
    pages = {page: (DOCS / f"{page}.md").read_text(encoding="utf-8") for page, _ in told}
    plain = {page: " ".join(text.split()) for page, text in pages.items()}
    assert [(page, words) for page, words in told if words not in plain[page]] == []


def test_what_the_readme_says_of_comparing_models_is_in_the_table_of_times():
    rows = re.findall(r"^\|(.*)\|$", (DOCS / "howto/large_data.md").read_text("utf-8"), re.M)
    cells = [row.replace(",", "").split("|") for row in rows]
    plain, default = np.array([row[-2:] for row in cells if len(row) == 8][2:], float).T
    assert 2 < (default / plain).max() <= 3
    assert "takes up to three times as long" in (ROOT / "README.md").read_text("utf-8")


NOT_AGAIN = re.compile(
    r"\b(hears?|heard|unheard|believes|trusts|doubtful|doubted|dismiss(es|ed)?|given up|shelf"
    r"|seats?|seating|reseat|resting places?|own say|lesser modes?|to the last bit|as ever|prices?"
    r"|believed?|meanwhile|anew|likewise|deaf|at the door|rooms?|guests?|tells? one story)\b",
    re.I,
)
"""Words for which the field has others (CONTRIBUTING says which)."""


def test_home_made_words_do_not_come_back(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    reference = extension("reference")
    texts = {str(path): path.read_text(encoding="utf-8") for path in PAGES}
    texts |= {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.[rt]*")}
    for path in sorted(ROOT.glob("notebooks/[0-9]*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        texts[path.name] = "\n".join(line for line in lines if line.startswith("#"))
    texts["command line"] = reference.command_line()
    for name, value in reference.public_names().items():
        texts[name] = inspect.getdoc(value) or ""
        assert not texts[name].startswith(("Of ", "What ", "Where ", "Whether ")), name
        for own, method in vars(value).items() if inspect.isclass(value) else ():
            texts[f"{name}.{own}"] = inspect.getdoc(method) or "" if own[:1] != "_" else ""
    assert {name: hit[0] for name, text in texts.items() if (hit := NOT_AGAIN.search(text))} == {}


def test_a_page_is_written_for_every_public_name(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    reference = extension("reference")
    listed = [
        line.strip()
        for text in reference.pages().values()
        for line in text.splitlines()
        if line.startswith("   ")
    ]
    import bayesclust

    reached = [getattr(bayesclust, name) for name in bayesclust.__all__]
    modules = [value for value in reached if inspect.ismodule(value)]
    wanted = {
        id(getattr(module, name))
        for module in (bayesclust, *modules)
        for name in getattr(module, "__all__", ())
        if name != "__version__"
    } - {id(module) for module in modules}
    reached = {
        id(resolve(f"bayesclust.{name}")[0]) for name in listed if re.fullmatch(r"[\w.]+", name)
    }
    assert wanted <= reached


CLAIMS = {
    "reading_the_output": lambda names: (
        names["verdict"].ok and names["links"].flipped[names["least"].index].all()
    ),
    "own_table": lambda names: (
        names["bc"].metrics.pairwise_f(names["est"].labels_, names["kind"]) > 0.7
        and names["verdict"].ok
        and 3 <= len(names["suspects"]) <= 12
    ),
    "entity_resolution": lambda names: (
        names["bc"].metrics.pairwise_f(names["est"].labels_, names["person"]) > 0.9
        and len(names["probability"]) == len(names["pairs"])
    ),
    "choosing_priors": lambda names: names["clusters"]["probability"].idxmax() >= 2,
    "several_annotators": lambda names: (
        names["est"].n_clusters_ == names["pooled"].n_clusters_ == 2
        and len(names["table"]) == 8
        and names["difficult"].between(0, 1).all()
        and 0 < names["share"].mean() < 0.5
    ),
    "groups": lambda names: (
        names["bc"].metrics.pairwise_f(names["est"].labels_, names["y"]) > 0.9
        and names["credibility"]["credibility"].iloc[-1] > 0.5
        and set(np.bincount(names["teams"].labels_)) <= {0, *range(50, 71)}
        and set(np.bincount(names["shifts"].labels_)) <= set(range(40, 51))
    ),
    "labels": lambda names: (
        names["right"] > 0.9 and names["accuracy"]["mean"].is_monotonic_decreasing
    ),
    "graded_answers": lambda names: (
        names["bc"].metrics.pairwise_f(names["est"].labels_, names["y"]) > 0.9
        and (names["curve"]["mean"][:4] < 0.3).all()
    ),
    "batches": lambda names: (
        names["bc"].metrics.pairwise_f(names["est"].labels_, names["kind"]) > 0.7
        and names["weights"].index.levels[0].tolist() == ["Bonn", "Oslo", "Rome"]
        and names["odds"][0, names["est"].labels_[0]] > names["odds"][1, names["est"].labels_[0]]
        and names["bc"].metrics.pairwise_f(names["shifted"].labels_, names["mixed"]) > 0.65
        and np.abs(names["shifts"] - names["offset"].loc[["Oslo", "Rome"]]).to_numpy().max() < 0.8
    ),
    "large_data": lambda names: (
        names["neighbours"].shape == (2000, 2000) and names["doubt"].max() <= 1
    ),
    "not_gaussian": lambda names: (
        names["est"].n_clusters_ == 2
        and names["balls"].n_clusters_ == 8
        and np.bincount(names["shapes"].component_clusters_).tolist() == [5, 5]
    ),
    "missing_and_mixed": lambda names: (
        names["bc"].metrics.pairwise_f(names["est"].labels_, names["kind"]) > 0.8
        and names["kinds"] == ["continuous", "inflated", "binary"]
        and [columns for _, columns in names["chosen"].parts] == [[0, 1], [2]]
    ),
    "choosing_a_family": lambda names: names["better"] == "gaussian",
    "describing_clusters": lambda names: (
        names["telling"] == {0: "petal length", 1: "petal length", 2: "petal length"}
        and names["table"].loc[(0, "petal length"), "mean_high"] < 2
    ),
    "arviz": lambda names: names["summary"].index[:2].tolist() == ["n_clusters", "concentration"],
    "numpyro": lambda names: names["clusters"] == 3,
    "chains_disagree": lambda names: not names["report"].ok and names["agreed"].shape == (150, 150),
    "asking_questions": lambda names: (
        names["bc"].metrics.pairwise_f(names["labels"], names["y"]) > 0.9
        and names["table"]["gain"].is_monotonic_decreasing
    ),
    "checkpoints": lambda names: names["same"].all(),
    "several_processes": lambda names: len(np.unique(names["labels"])) == 2,
    "extending": lambda names: names["labels"].tolist() == [0, 0, 1, 1],
}
"""What the examples of the how-tos should come to."""


@pytest.mark.parametrize("name", CLAIMS)
def test_examples_of_how_tos_run(name):
    assert CLAIMS[name](names_after(f"docs/howto/{name}.md"))


def names_unbound(code):
    """Names that code uses and does not bind itself."""
    bound, used = set(dir(builtins)), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return used - bound


def test_examples_of_public_names_can_be_pasted():
    """Each imports what it uses."""
    modules = [bc, *(own for name in bc.__all__ if inspect.ismodule(own := getattr(bc, name)))]
    lacking = {}
    for module in modules:
        for name in set(module.__all__) if hasattr(module, "__all__") else ():
            if inspect.ismodule(value := getattr(module, name)):
                continue
            for found in doctest.DocTestFinder().find(value, f"{module.__name__}.{name}"):
                code = "".join(example.source for example in found.examples)
                if unbound := names_unbound(code):
                    lacking[found.name] = unbound
    assert lacking == {}


@pytest.mark.parametrize(
    ("folder", "page"), [("skeletons", "extending"), ("examples", "several_processes")]
)
def test_files_that_a_how_to_shows_are_all_of_their_folder(folder, page):
    text = (DOCS / f"howto/{page}.md").read_text(encoding="utf-8")
    shown = re.findall(rf"^```\{{literalinclude\}} \.\./{folder}/(\w+\.py)$", text, re.M)
    assert sorted(shown) == sorted(path.name for path in DOCS.glob(f"{folder}/*.py")) != []


def test_contributing_counts_what_a_new_part_takes():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `([\w/]+\.py)` \| (\d+) \|", text, re.M)
    assert len(rows) >= 7
    for path, most in rows:
        assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= int(most), path
    named = re.findall(r"`((?:tests|experiments|benchmarks|tools|docs)/[\w/.]+)`", text)
    for path in named:
        assert (ROOT / path).exists(), path
    assert {f"docs/skeletons/{path.name}" for path in DOCS.glob("skeletons/*.py")} <= {*named}


def test_no_how_to_is_left_out():
    files = {path.stem for path in DOCS.glob("howto/*.md")} - {"index"}
    index = (DOCS / "howto/index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(.*)\]\((\w+)\.md\)$", index, re.M)
    texts = {name: (DOCS / f"howto/{name}.md").read_text(encoding="utf-8") for name in files}
    with_python = {name for name, text in texts.items() if "```python" in text}
    titles = {(text.partition("\n")[0].removeprefix("# "), name) for name, text in texts.items()}
    assert (titles, with_python) == (set(listed), set(CLAIMS))


def test_the_gallery_shows_every_plot():
    shown = re.findall(r"bc\.plots\.(\w+)\(", (DOCS / "gallery.rst").read_text(encoding="utf-8"))
    assert set(shown) == set(resolve("bayesclust.plots")[0].__all__)


PAGES = [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("howto/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_of_the_repository(page):
    """So that they work before the site is built, which has them lead to the pages it writes."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    written = [DOCS / name for name in ("tutorial", "reference")]
    found = [(page.parent / target).resolve() for target in targets]
    assert [path for path in found if not path.exists() or set(path.parents) & set(written)] == []


def test_the_command_line_does_what_its_how_to_shows(tmp_path, monkeypatch, capsys):
    """The commands as they stand there, on the files that stand there; only draws are fewer."""
    from bayesclust.cli import main

    text = (DOCS / "howto/command_line.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names, _, *rows = re.search(r"```text\n(.*?)```", text, re.S)[1].splitlines()
    for number, name in enumerate(names.split()):
        (tmp_path / name).write_text("".join(f"{row.split()[number]}\n" for row in rows))
    commands = [
        line.partition("#")[0].split()
        for line in text.splitlines()
        if line.startswith("bayesclust ")
    ]
    verbs = " ".join(command[1] for command in commands)
    assert verbs == "fit summary summary report predict fit compare"
    for _, verb, *arguments in commands:
        sampled = verb == "fit" and "rdp-means" not in arguments
        few = ["--samples", "60", "--warmup", "60"] * sampled
        assert main([verb, *arguments, *few]) == 0
    assert "run.nc" in capsys.readouterr().out
    assert (tmp_path / "run.html").stat().st_size > 10_000


def test_graphs_of_the_models_are_those_of_their_programs():
    """A site that a program gained or lost is noticed when the graph is drawn."""
    graphs = extension("../model_graphs")
    page = (DOCS / "howto/numpyro.md").read_text(encoding="utf-8")
    for name in graphs.GRAPHS:
        shown = {text.get_text().replace("\n", "_") for text in graphs.draw(name).axes[0].texts}
        assert {"item", *graphs.PLACES[name]} <= shown
        assert f"../_static/{name}.svg" in page
        assert (DOCS / f"_static/{name}.svg").exists()
