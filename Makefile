# Each target makes .venv and installs into it first, when that is needed.
PYTHON_IN_VENV = .venv/bin/python
# xdist workers; only one compiles at a time, so more than a few bring little
WORKERS = -n auto --maxprocesses 4 --dist worksteal
# with which `make package` fits in each empty environment, nothing compiled yet: "blocked" takes half the time
SAMPLER = collapsed

.PHONY: help env demo test test-experiments test-slow lint format bench docs notebooks package

help:
	@echo "make demo       fit wine with doubtful links, print a summary, write figures to demo_output/"
	@echo "make test       the tests, without the slow ones"
	@echo "make test-experiments  the tests of the papers' experiments, which are no part of the package"
	@echo "make test-slow  the slow, simulation-based tests"
	@echo "make lint       ruff, its format included, and mypy"
	@echo "make bench      the benchmarks, on one thread; results go to benchmarks/output, as JSON and as text"
	@echo "make docs       the documentation site, notebooks run, warnings as errors; goes to docs/_build/html"
	@echo "make package    build wheel and sdist and try them in empty environments, with the oldest dependencies and the newest"
	@echo "make notebooks  write the notebooks from the scripts beside them"
	@echo "make format     let ruff lay out the code and mend what it can"

env:
	@sh tools/make-venv

demo: env
	@$(PYTHON_IN_VENV) -m experiments.demo

test: env
	@$(PYTHON_IN_VENV) -m pytest $(WORKERS)

test-experiments: env
	@$(PYTHON_IN_VENV) -m pytest $(WORKERS) experiments tests/experiments

test-slow: env
	@$(PYTHON_IN_VENV) -m pytest $(WORKERS) -m slow bayesclust tests tests/experiments

lint: env
	@$(PYTHON_IN_VENV) -m ruff format --check
	@$(PYTHON_IN_VENV) -m ruff check
	@$(PYTHON_IN_VENV) -m mypy

bench: env
	@$(PYTHON_IN_VENV) -m benchmarks

docs:
	@sh tools/make-venv docs
	@echo "building docs/_build/html; the first time, or after a change, the notebooks are run, which takes minutes"
	@$(PYTHON_IN_VENV) -m sphinx -q -W --keep-going docs docs/_build/html

package: env
	@$(PYTHON_IN_VENV) tools/package/try_package.py $(SAMPLER)

notebooks: env
	@$(PYTHON_IN_VENV) tools/pair_notebooks.py

format: env
	@$(PYTHON_IN_VENV) -m ruff format
	@$(PYTHON_IN_VENV) -m ruff check --fix
