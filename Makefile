# A fresh machine needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test bench lint torture clean

help:
	@echo "make demo     open a sample vault with a morning's review in it"
	@echo "make test     run all tests and name the skipped ones"
	@echo "make lint     ruff, formatting, types"
	@echo "make bench    measure the quick set"
	@echo "make torture  run the long fault campaigns"
	@echo "make clean    remove everything that was built, .venv included"

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.13")'
	$(PYTHON) -m venv .venv
	@# Older versions of pip know no dependency groups.
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.dev: .venv/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

demo: .venv/.installed
	$(BIN)/vault-tools demo

test: .venv/.dev
	$(BIN)/python -m pytest -q -rs

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.dev
	@for script in benchmarks/[a-z]*.py; do $(BIN)/python "$$script" --quick || exit 1; done

torture: .venv/.dev
	$(BIN)/python -m pytest -q -rs -m torture

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find vault_tools tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
