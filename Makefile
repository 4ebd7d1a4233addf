# Each target does its own set-up: Python 3.11+, git and make are all a machine needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint benchmarks-speed clean

demo: $(VENV)/.demo
	$(BIN)/eigenfeat demo

test: $(VENV)/.dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/pytest -n 2 tests src

lint: $(VENV)/.dev
	$(BIN)/ruff check --fix . && $(BIN)/ruff format . && $(BIN)/mypy

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

clean:
	rm -rf $(VENV) demo dist build
