# Each target does its own set-up: Python 3.11+, git and make are all a machine needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-oldest docs fuzz lint benchmarks-speed clean

demo: $(VENV)/.demo
	$(BIN)/eigenfeat demo

test: $(VENV)/.dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/pytest -n 2 tests src

# The oldest versions that pyproject.toml admits.
test-oldest: $(VENV)-oldest/.dev
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(VENV)-oldest/bin/pytest -n 2 tests

# Every estimator with every bad input and parameter: a table of outcomes, and what was neither right nor refused clearly.
fuzz: $(VENV)/.dev
	$(BIN)/python tests/robustness/fuzz.py --worst

# The site, from pages, gallery and docstrings; a warning is an error. Open docs/_build/index.html.
docs: $(VENV)/.docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build

lint: $(VENV)/.dev
	$(BIN)/ruff check --fix . && $(BIN)/ruff format . && $(BIN)/mypy && $(BIN)/lint-imports

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "eigenfeat needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable '.[all]'
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

$(VENV)-oldest/.dev: pyproject.toml tests/oldest.py
	$(PYTHON) -m venv $(VENV)-oldest
	$(PYTHON) tests/oldest.py > $(VENV)-oldest/pins.txt
	$(VENV)-oldest/bin/pip install --quiet --requirement $(VENV)-oldest/pins.txt
	$(VENV)-oldest/bin/pip install --quiet --no-deps --editable .
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest demo dist build docs/_build docs/generated docs/auto_examples
