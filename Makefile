# Weir: `make run` shows the main job working, `make test` tests it; both set themselves up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

SITE   := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: setup run docs test test-spark test-processes test-rest check bench long clean java

setup: $(STAMP)

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "weir: cannot create $(VENV): install Python 3.11 or newer with its venv module"; exit 1; }
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "weir: Python 3.11 or newer is needed (set PYTHON=/path/to/python3.11)"; exit 1; }
	@echo "weir: installing into $(VENV) (once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=24"
	@$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev,bench]"
	@touch $@

java:
	@java -version 2>&1 | grep -qE 'version "(1[7-9]|[2-9][0-9])' || { echo "weir: Spark needs Java 17 or newer on PATH: on Debian or Ubuntu 'apt-get install openjdk-17-jre-headless', on macOS 'brew install openjdk@17'"; exit 1; }

run: setup java
	@$(BIN)/python -m weir demo

# Three processes: what shares one Spark session, what starts Spark by itself and waits for it, and the rest.
test: setup java
	@$(MAKE) --no-print-directory -j3 test-spark test-processes test-rest

test-spark test-processes test-rest: test-%:
	@$(BIN)/python -m pytest -m "not long" --part $*

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(SITE) --site-dir build/site
	@$(BIN)/python -m pytest tests/test_house.py tests/test_public_names.py

docs: setup
	@$(SITE) --site-dir build/site
	@echo "weir: the documentation is build/site/index.html"

bench: setup java
	@$(BIN)/python -m weir bench all --quick

# Everything recorded or endless: what is marked long, and the properties with many more examples.
long: setup java
	@WEIR_EXAMPLES=$${WEIR_EXAMPLES:-25} $(BIN)/python -m pytest -m "long or hypothesis" --timeout=7200

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
