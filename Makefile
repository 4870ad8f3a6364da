# Type `make` to see the targets. Everything happens in .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CASE ?= cases/finetuning-1024-gpus.yaml
STAMP := $(VENV)/.installed
# Percent of lines and branches that tests must reach.
LEAST_COVERAGE := 95
FUZZ_SECONDS ?= 300
# Of the tests that take long, all.
SHARE ?= 0/1
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup demo quick test long coverage lint hooks docs advice relaxed bench measure predictions basis families schemas goldens picture fuzz faults trust clean

help:  ## Show this
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

setup: $(STAMP)  ## Make .venv with pinned versions

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[dev]'
	@touch $@

demo: setup  ## Solve a shipped case and check the answer
	$(BIN)/fabopt solve $(CASE) --json demo-design.json --bom demo-bom.xlsx
	$(BIN)/fabopt check demo-design.json

quick: setup  ## Style, types, and the tests that your change needs
	$(BIN)/python -m tests.quick

# Each process of tests rewrites their assertions: so long that what it comes to is kept, even where bytecode is not.
quick test long coverage: export PYTHONDONTWRITEBYTECODE =

test: setup  ## Run every test but those that take long
	$(BIN)/python -m compileall -q fabopt  # tests start a hundred processes, where bytecode may not be written
	$(BIN)/python -m pytest -n auto --dist worksteal

long: setup  ## Run the tests that take long, or the share SHARE of them (3/16)
	$(BIN)/python -m pytest -n auto --dist worksteal --long --share $(SHARE)

coverage: setup  ## Run each test on its first inputs, and say which lines and branches none reached
	$(BIN)/python -m pytest -n auto --dist worksteal --inputs 2 --cov --cov-report=term:skip-covered \
	  --cov-fail-under=$(LEAST_COVERAGE)

lint: setup  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

hooks: $(VENV)/.hooks  ## Run lint before each commit
	$(BIN)/pre-commit install

$(VENV)/.hooks: $(STAMP)
	$(PIP) -e '.[hooks]'
	@touch $@

docs: $(VENV)/.docs  ## Build the pages into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "open site/index.html, or: $(BIN)/python -m http.server -d site"

$(VENV)/.docs: $(STAMP)
	$(PIP) -e '.[docs]'
	@touch $@

advice: setup  ## Follow the advice of 300 random cases without a design
	$(BIN)/python -m tests.samples.infeasible 300

predictions: setup  ## Write tables and data of predicted and published steps
	$(BIN)/python -m tests.published_runs
	$(BIN)/python -m tests.published_racks

relaxed: setup  ## Relax one limit of each of 500 random cases
	$(BIN)/python -m tests.samples.relaxed 500

bench: setup  ## Measure speed, as ratios in one run; AGAINST=COMMIT: the answers alone against those of a commit
	$(BIN)/python -m tests.bench $(if $(AGAINST),--against $(AGAINST))
	$(if $(AGAINST),,$(BIN)/python -m tests.rival)

measure: setup  ## Count the package: statements, imports, what one answer enters, fields, words
	$(BIN)/python -m tests.measure

basis: setup  ## Show what the prices of the catalog rest on
	$(BIN)/python -m tests.basis_table

families: setup  ## Compare the families on the same 64-port 400G parts
	$(BIN)/python -m tests.families_table

schemas: setup  ## Write docs/schemas and the tables of keys from the types
	$(BIN)/python -m fabopt.cli.schemas docs/schemas
	$(BIN)/python docs/key_tables.py

goldens: setup  ## Write the programs that tests compare whole
	$(BIN)/python -m tests.program.lp_goldens

picture: setup  ## Draw the pictures of the pages; with PICTURES=FOLDER all that people are shown, to be looked at
	$(BIN)/python docs/photograph_report.py docs/img/report.png
	$(BIN)/python docs/draw_pictures.py docs/img
	$(if $(PICTURES),$(BIN)/python docs/take_pictures.py $(PICTURES))

fuzz: setup  ## Run commands on wrong inputs for FUZZ_SECONDS, 300 by default
	$(BIN)/python -m tests.fuzz.broken_disk
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

faults: setup  ## Seed faults in the package and count those that tests find (hours; goes on where it ended)
	$(BIN)/python -m tests.faults record faults-record.jsonl
	$(BIN)/python -m tests.faults run faults-record.jsonl faults-found.jsonl
	$(BIN)/python -m tests.faults show tests/faults/found.jsonl faults-found.jsonl

trust: setup  ## Count what the promises of docs/trust.md came to, and write it there (an hour)
	$(BIN)/python -m tests.trust

clean:  ## Remove what make made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage htmlcov site demo-design.json demo-bom.xlsx fuzz-findings
