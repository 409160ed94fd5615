# Everything from a bare clone: `make test`, `make train`. Needs Python >= 3.11 with pip, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: test train check format bench clean install

install: $(STAMP)

# torch comes first and by its exact version: any other spelling pulls gigabytes of CUDA libraries.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .[all] -c constraints.txt
	touch $(STAMP)

test: install check
	$(BIN)/python -m pytest -n auto

train: install
	$(BIN)/artus train-all

bench: install
	$(BIN)/artus bench

# Format, lint and types in one command; `make format` mends what can be mended.
check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) runs dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
