# Everything from a bare clone: `make train`, `make test`, `make play`. Needs Python >= 3.11 with pip, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Three steps of setting up: PyTorch; what `make play` needs; everything.
WITH_TORCH := $(VENV)/.torch
WITH_PLAY := $(VENV)/.play
STAMP := $(VENV)/.installed
# It comes first and by its exact version: any other spelling pulls gigabytes of CUDA libraries.
TORCH := torch==2.13.0

.PHONY: install play test test-all test-frameworks train bench fuzz check format coverage notebooks docs clean

install: $(STAMP)

# Groups of packages for developers need a newer pip than many a Python brings along.
$(WITH_TORCH): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) $(TORCH)
	touch $@

$(WITH_PLAY): $(WITH_TORCH)
	$(INSTALL) -e ".[play,ppo]"
	touch $@

# Everything has what playing needs.
$(STAMP): $(WITH_TORCH)
	$(INSTALL) -e ".[all]" --group dev
	touch $(WITH_PLAY) $@

# Tests side by side. One that ends its process ends the run: pytest-xdist 3.8 would put another process in its place and
# then wait for ever.
ASIDE := -n auto --max-worker-restart 0

# Each process takes tests that belong together, in the order of tests/conftest.py.
PYTEST := $(BIN)/python -m pytest $(ASIDE) --dist loadgroup --no-loadscope-reorder --durations 20

# An answer within minutes: all but the marked tests.
test: install check
	$(PYTEST) -m "not slow and not browser and not cluster and not docs"

# Then the marked ones.
test-all: test
	$(PYTEST) -m "slow or browser or cluster or docs"

# The examples with other people's frameworks, which need versions of their own, and our environments with these. Most of
# their modules are never imported, so pip doesn't compile them.
FRAMEWORKS := .venv-frameworks
INTO_FRAMEWORKS := $(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile
$(FRAMEWORKS)/.installed: pyproject.toml examples/requirements.txt
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(INTO_FRAMEWORKS) $(TORCH)
	$(INTO_FRAMEWORKS) -r examples/requirements.txt
	$(INTO_FRAMEWORKS) --no-deps -e .
	$(FRAMEWORKS)/bin/python -m pip check
	touch $@

test-frameworks: $(FRAMEWORKS)/.installed
	$(FRAMEWORKS)/bin/python -m pytest examples $(ASIDE) --dist loadfile
	$(FRAMEWORKS)/bin/python -m pytest $(addprefix tests/artus_env/engine/envs/,test_aec.py test_gymnasium.py) $(ASIDE)

# Choose a game and sit down, in the browser.
play: $(WITH_PLAY)
	$(BIN)/artus play

train: install
	$(BIN)/artus train-all

bench: install
	$(BIN)/artus bench

# A hundred thousand damaged inputs for everything that reads; `make fuzz FUZZ="--seed 1 --target records"` for others.
fuzz: install
	cd tests/helpers && ../../$(BIN)/python -m fuzz $(FUZZ)

# Format, lint and types in one command; `make format` mends what can be mended.
check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The rules of each game as plain Python, so that every line counts.
GAMES := artus royal quest
COVERING := components fast hidden evaluation moves observation picture positions redeal reference rulebook_examples rules text
ENGINE := basics/test_files.py compiling $(addprefix play/test_,batch.py data.py game.py rewards.py)
coverage: install
	$(BIN)/python -m coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest $(ASIDE) \
		$(ENGINE:%=tests/artus_env/engine/%) tests/contract/test_identity.py \
		$(wildcard $(foreach game,$(GAMES),$(COVERING:%=tests/artus_env/games/$(game)/test_%.py)))
	$(BIN)/python -m coverage combine --quiet
	$(foreach game,$(GAMES),$(BIN)/python -m coverage report --include="artus_env/games/$(game)/*" \
		--skip-covered --show-missing --fail-under=90 &&) true

# Run anew, with what they print and draw kept in them.
notebooks: install
	$(BIN)/python -m jupyter execute --inplace --timeout=120 notebooks/*.ipynb

# The generated tables, then the site; every warning fails.
docs: install
	$(BIN)/artus tables README.md docs/*.md
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo open docs/_build/html/index.html

clean:
	rm -rf $(VENV) $(FRAMEWORKS) runs dist screenshots docs/_build docs/notebooks docs/reference .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
