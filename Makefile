# The two commands of the README are `make report` and `make test`; the others are for developers.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Strict editable installs link file by file, so a new file needs a new install: the stamp depends on the list.
TREE   := $(shell find grammars ingest model validate -name __pycache__ -prune -o -type f -print | sort | cksum | cut -d' ' -f1)
STAMP  := $(VENV)/.installed-$(TREE)
TEST   := $(VENV)/.installed-test-$(TREE)
# as pip does with what it installs for good: a command starts in two thirds of the time
COMPILE = $(BIN)/python -m compileall -q build/__editable__* && \
          $(BIN)/python -c "from assay.ingest.lines.lark import keep_all; keep_all()"

.PHONY: report test pytest test-slow lint types accuracy docs golden bench bench-4gb clean

report: $(STAMP)
	@$(COMPILE)
	$(BIN)/assay report fixtures/

test: $(TEST)
	@$(MAKE) --no-print-directory -j3 lint types pytest

# a core for each worker; what the tests of one file share is made once, and the longest files begin
# (tests/conftest.py); modules are compiled once
pytest: $(TEST)
	@$(COMPILE)
	PYTHONDONTWRITEBYTECODE= POLARS_MAX_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# and properties with all of their examples (tests/conftest.py)
test-slow: $(TEST)
	$(BIN)/python -m pytest -m "slow or hypothesis" --hypothesis-profile thorough

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TEST)
	$(BIN)/mypy -p assay.ingest -p assay.model -p assay.validate -p tests.studies

accuracy: $(TEST)
	$(BIN)/python -m tests.studies build/accuracy.json

docs: $(TEST)
	$(BIN)/python -m assay.ingest.reference.describe docs/formats
	$(BIN)/python -m assay.validate.cli.reference > docs/cli.md
	$(BIN)/python -m assay.validate.cli.api_page > docs/api.md
	$(BIN)/python -m assay.validate.cli.messages > docs/messages.md
	$(BIN)/python -m assay.validate.cli.laws_page > docs/findings.md
	$(BIN)/python -m assay.validate.predict.required > docs/configuration.md
	$(BIN)/python -m tests.journeys docs/architecture.md

# speed and memory beside a loop of regular expressions: build/bench.json and docs/performance.md
bench: $(TEST)
	@$(COMPILE)
	$(BIN)/python -m tests.benchmarks --page

bench-4gb: $(TEST)
	$(BIN)/python -m tests.benchmarks --only rss_4gb --page

# goldens of the fixtures, written again: what a change of a schema or a model does to them is in the diff
golden: $(STAMP)
	$(BIN)/assay golden update --yes $$($(BIN)/python -c \
	  "from assay.ingest.formats import FORMATS; print(*('fixtures/' + fmt.name for fmt in FORMATS))")

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(TEST): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ $(STAMP)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
