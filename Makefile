# Every target sets up what it needs in .venv; PYTHON is any Python of 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DELETE_ON_ERROR:
.PHONY: demo test soak lint docs package bench clean

demo: $(VENV)/.all
	$(BIN)/hierbandits reproduce synthetic --runs 200

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2

# Hostile use for long; each kind of it lasts SOAK_SECONDS.
soak: $(VENV)/.dev
	$(BIN)/python -m tests.soak

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, in results/site; a broken link, a missing picture or an undocumented name fails.
docs: $(VENV)/.dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --fresh-env docs results/site

# The wheel and the sdist, in dist; each is installed in a clean environment and tried there.
package: $(VENV)/.dev
	$(BIN)/python tests/package.py

bench: $(VENV)/.bench
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .checked_kernels

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hierbandits needs Python 3.11 or newer, got " + sys.version)'
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras, renewed when the dependencies change.
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@
