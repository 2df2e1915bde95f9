"""The frame of all experiments: a plan asks for cells, a cell is one fit, tables are of cells.

A paper is one module: a `Plan` whose fields are the options of the command line; a `Cell`, what one
fit depends on, whose first field is the seed and whose last is the trial (or trial and fold); its
`METHODS`; ``run(cell)``, which returns the `SCORES` (columns by name, "int", "float" or "str");
``tables(cells, plan)``, the entries of the tables; ``report(cells, entries, plan)``, lines of
Markdown; ``draw(cells, entries, plan)``, figures by name; and ``ready()``, if something must be
there before anything is run. Every cell is a line of cells.csv, written as soon as it is done;
after an interrupt or a kill the same command continues there. Under `RESULTS` it is kept packed, as
`PACKED`, which pandas reads too. Labels simulate answers and score partitions; no method sees them.
"""

from __future__ import annotations

import csv
import lzma
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Self, get_type_hints

import numpy as np
import pandas as pd

from bayesclust.typing import FloatArray, IntArray
from experiments import figures

CELLS, PACKED = "cells.csv", "cells.csv.xz"
NOTHING = "Too few cells are done yet."
RESULTS = Path(__file__).parent / "results"
"""What is recorded, a folder for each paper."""


@dataclass(frozen=True)
class Method:
    """How to fit, and what is to be known about it."""

    title: str
    fit: Callable[..., Any]
    """Of data, constraints or None, number of classes and seed; returns labels or an estimator."""
    about: str = ""
    uses_answers: bool = True
    """Whether it makes use of answers."""
    scales: bool = False
    """Whether it takes columns in any units."""


def fitted(make: Callable[[int, int], Any]) -> Callable[..., Any]:
    """A `Method.fit` by the estimator that `make` returns for a number of clusters and a seed."""

    def fit(X: FloatArray, constraints: Any, n_clusters: int, seed: int) -> Any:
        est = make(n_clusters, seed).fit(X, constraints=constraints)
        # an interrupted sampler returns the draws so far, which are not what the cell stands for
        if hasattr(est, "posterior_") and est.posterior_.attrs.get("interrupted"):
            raise KeyboardInterrupt
        return est

    return fit


def labels_of(found: Any) -> IntArray:
    """Labels, of an estimator or as they are."""
    return np.asarray(getattr(found, "labels_", found))


def option(
    default: Any,
    text: str = "",
    *,
    among: Iterable[Any] | None = None,
    kind: Callable[[str], Any] = str,
    part: bool = False,
    least: int | None = None,
    share: bool = False,
) -> Any:
    """A field of a plan; one with a text is an option of the command line.

    Where the user chooses some of the fields that are a `part`, the other parts are left out.
    """
    rules = {"text": text, "kind": kind, "part": part, "least": least, "share": share}
    return field(
        default=default, metadata={**rules, "among": None if among is None else tuple(among)}
    )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be run and shown."""

    trials: int = option(5, "draws of answers", least=1)
    seed: int = option(0, "of answers and fits", least=0)
    command: str = option("")
    """The command line that asked for it."""

    QUICK = {}  # noqa: RUF012  (a constant of the class: fields that a small plan changes)

    @classmethod
    def of(cls, *, quick: bool = False, **given: Any) -> Self:
        """A plan with some fields given, checked; `quick` touches everything with little."""
        parts = [part.name for part in fields(cls) if part.metadata["part"]]
        if set(parts) & set(given):
            off = {part.name: () for part in fields(cls) if part.metadata["part"]}
            off = {name: type(getattr(cls, name))() for name in off}
            given = {**off, **given}
        plan = cls(**{**(cls.QUICK if quick else {}), **given})
        plan.check()
        return plan

    def check(self) -> None:
        """Raise ValueError where a name is unknown or a number impossible."""
        for rule in fields(self):
            value, rules = getattr(self, rule.name), rule.metadata
            for entry in value if isinstance(value, tuple) else (value,):
                if rules["among"] is not None and entry not in rules["among"]:
                    names = ", ".join(map(str, rules["among"]))
                    raise ValueError(f"{rule.name} has {entry!r}: choose from {names}.")
                if rules["least"] is not None and not entry >= rules["least"]:
                    raise ValueError(f"{rule.name} has {entry}: {rules['least']} is the least.")
                if rules["share"] and not 0 < entry <= 1:
                    raise ValueError(f"{rule.name} has {entry}: choose shares in (0, 1].")

    def cells(self) -> list[Any]:
        """The cells needed, each once."""
        return list(dict.fromkeys(self.wanted()))

    def wanted(self) -> Iterator[Any]:
        """The cells needed, in the order in which they are run."""
        raise NotImplementedError


class Experiment:
    """A paper's module: how a plan becomes cells, and these tables and figures."""

    def __init__(self, module: Any) -> None:
        self.module = module
        fields = {name: kind.__name__ for name, kind in get_type_hints(module.Cell).items()}
        types = {"int": "int64", "float": "float64", "str": "str"}
        columns = {**fields, **module.SCORES, "commit": "str"}
        self.kinds = {name: types[kind] for name, kind in columns.items()}
        """Columns of the file of cells, with the type of each."""

    def row(self, cell: Any) -> dict[str, Any]:
        """A cell and its scores, rounded: the clock to hundredths, since its noise packs badly."""
        rounded = {
            name: round(v, 2 if name == "seconds" else 4) if isinstance(v, float) else v
            for name, v in self.module.run(cell).items()
        }
        return {**cell._asdict(), **rounded, "commit": commit()}

    def reproduce(self, plan: Plan, folder: Path, *, progress: bool = True) -> list[Path]:
        """Run the cells that are missing and write tables and figures, also when interrupted."""
        from tqdm import tqdm

        getattr(self.module, "ready", lambda: None)()
        wanted, path = plan.cells(), folder / CELLS
        left = missing(wanted, load(path, self.kinds))
        done = len(wanted) - len(left)
        bar = tqdm(total=len(wanted), initial=done, unit="cell", disable=not progress)
        try:
            with bar:
                for row in run_all(left, self.row, path, self.kinds):
                    bar.set_postfix_str(f"{row['method']} on {row['data']}", refresh=False)
                    bar.update()
        except KeyboardInterrupt as interrupt:
            self.write(plan, folder)
            done = len(wanted) - len(missing(wanted, load(path, self.kinds)))
            interrupt.add_note(
                f"{done} of {len(wanted)} cells are done and kept: the same command continues."
            )
            raise
        return self.write(plan, folder)

    def report(self, plan: Plan, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, str]:
        """The cells that are done, the entries of the tables, and the tables in Markdown."""
        frame = load(folder / CELLS, self.kinds)
        frame = frame[(frame.seed == plan.seed) & (frame.trial < plan.trials)]
        entries = self.module.tables(frame, plan)
        lines = self.module.report(frame, entries, plan) if len(entries) else [NOTHING]
        made = [f"Made by `{plan.command}`."] if plan.command else []
        return frame, entries, "\n".join([*lines, *made]) + "\n"

    def write(self, plan: Plan, folder: Path) -> list[Path]:
        """Write tables and figures from the cells that are done; returns the files."""
        folder.mkdir(parents=True, exist_ok=True)
        frame, entries, text = self.report(plan, folder)
        if folder.resolve().parent == RESULTS and (folder / CELLS).exists():
            (folder / PACKED).write_bytes(lzma.compress((folder / CELLS).read_bytes(), preset=9))
            (folder / CELLS).unlink()
        entries.to_csv(folder / "tables.csv", index=False)
        (folder / "tables.md").write_text(text, encoding="utf-8")
        drawn = figures.save(self.module.draw(frame, entries, plan), folder) if len(frame) else []
        cells = PACKED if (folder / PACKED).exists() else CELLS
        return [folder / cells, folder / "tables.csv", folder / "tables.md", *drawn]


@cache
def commit() -> str:
    """Day and name of the package's last commit, a plus if it was changed since; or nothing."""

    def git(*words: str) -> str:
        root = Path(__file__).parents[1]
        called = ["git", "-C", str(root), *words, "--", "bayesclust"]
        return subprocess.run(called, capture_output=True, text=True, check=False).stdout.strip()

    return git("log", "-1", "--format=%cs %h") + "+" * bool(git("diff", "--name-only", "HEAD"))


def load(path: Path, kinds: Mapping[str, str]) -> pd.DataFrame:
    """The rows of a file of cells, none if there is no file; without a last line cut short."""
    text = content(path)
    size = whole_lines(text)
    if not size:
        return pd.DataFrame(columns=list(kinds)).astype(dict(kinds))
    try:
        lines = text[:size].decode("utf-8").splitlines()
        header, *rows = csv.reader(lines, strict=True)
    except (csv.Error, UnicodeDecodeError):
        raise ValueError(f"{path} is no file of cells, or damaged: name another folder.") from None
    if header != list(kinds):
        names = ", ".join(header)
        raise ValueError(
            f"{path} is no file of cells: its columns are {names}; name another folder."
        )
    remedy = "remove them, and their cells are run again."
    short = next((line for line, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if short is not None:
        raise ValueError(f"{path} has damaged lines, line {short} first: {remedy}")
    try:
        return pd.DataFrame(rows, columns=header).astype(dict(kinds))
    except (ValueError, TypeError):
        raise ValueError(f"{path} has damaged lines: {remedy}") from None


def content(path: Path) -> bytes:
    """A file of cells, or the packed one in its place; nothing where there is none."""
    if path.exists():
        return path.read_bytes()
    packed = path.with_name(PACKED)
    return lzma.decompress(packed.read_bytes()) if packed.exists() else b""


def whole_lines(text: bytes) -> int:
    """How many bytes end in a line break."""
    return text.rfind(b"\n") + 1


def missing[C: tuple[Any, ...]](cells: Iterable[C], frame: pd.DataFrame) -> list[C]:
    """The cells that a file does not hold, each once."""
    wanted = dict.fromkeys(cells)
    size = len(next(iter(wanted), ()))
    done = set(frame[frame.columns[:size]].itertuples(index=False, name=None))
    return [cell for cell in wanted if cell not in done]


def of_settings[C: tuple[Any, ...]](frame: pd.DataFrame, cells: Iterable[C]) -> pd.DataFrame:
    """The rows that have the settings of some of the cells, whatever their seed and trial."""
    wanted = {cell[1:-1] for cell in cells}
    settings = frame[frame.columns[1 : 1 + len(next(iter(wanted), ()))]]
    rows = settings.itertuples(index=False, name=None)
    return frame[np.array([row in wanted for row in rows], dtype=bool)]


def run_all[C: tuple[Any, ...]](
    cells: Sequence[C], run: Callable[[C], dict[str, Any]], path: Path, kinds: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Run cells one after the other; each is in the file before the next begins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content(path)
    if not path.exists():
        path.write_bytes(text)
    with path.open("a", newline="", encoding="utf-8") as file:
        whole = whole_lines(text)
        file.truncate(whole)
        writer = csv.DictWriter(file, list(kinds), lineterminator="\n")
        if whole == 0:
            writer.writeheader()
        for cell in cells:
            try:
                row = run(cell)
            except Exception as error:
                error.add_note(
                    f"in {cell}; cells done before are in {path}: the same command continues"
                )
                raise
            writer.writerow(row)
            file.flush()
            yield row


class Timed:
    """Seconds of the clock and of processors of a block, in which bounded searches do not warn."""

    def __enter__(self) -> Self:
        from sklearn.exceptions import ConvergenceWarning

        self._quiet = warnings.catch_warnings()
        self._quiet.__enter__()
        warnings.simplefilter("ignore", ConvergenceWarning)
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *raised: object) -> None:
        wall, cpu = self._start
        self.seconds = time.perf_counter() - wall
        self.cpu_seconds = time.process_time() - cpu
        self._quiet.__exit__(*raised)


def numbers(text: str) -> FloatArray:
    """Numbers that a cell has as words, such as a curve."""
    return np.array(text.split(), dtype=np.float64)


def words(values: Iterable[float], digits: int = 4) -> str:
    """Numbers as words, as `numbers` reads them."""
    return " ".join(f"{value:.{digits}f}" for value in values)


def standard_error(values: Any) -> float:
    """Standard error of a mean; NaN for a single value or none."""
    values = np.asarray(values, dtype=np.float64)
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def half_width(deviations: Any, trials: Any) -> FloatArray:
    """Half the width of the 95% interval of a mean by Student's t, from standard deviations."""
    from scipy.stats import t

    trials = np.asarray(trials, dtype=np.float64)
    width = t.ppf(0.975, np.maximum(trials - 1, 1)) * np.asarray(deviations) / np.sqrt(trials)
    return np.where(trials > 1, width, np.nan)


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}" + "s" * (number != 1)


def span(counts: Iterable[int], noun: str) -> str:
    """Of how many draws, or the like, the rows of a table are."""
    least, most = min(counts := [int(count) for count in counts]), max(counts)
    return counted(most, noun) if least == most else f"{least} to {counted(most, noun)}"


def decimal(value: float, digits: int = 3, error: float = np.nan) -> str:
    """A number of a table, with its error where there is one; nothing for NaN."""
    if np.isnan(value):
        return ""
    # a tie is rounded alike wherever the sums were made
    value, error = round(value, 9), round(error, 9)
    return f"{value:.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def in_markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    r"""Lines of a table in Markdown, with an empty one behind.

    >>> print(*in_markdown(["", "F"], [["k-means", "0.74"]]), sep="\n")
    |  | F |
    |---|---|
    | k-means | 0.74 |
    <BLANKLINE>
    """
    names = list(head)
    yield "| " + " | ".join(names) + " |"
    yield "|---" * len(names) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""
