# Type `make` to see the targets. Everything happens in .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CASE ?= cases/finetuning-1024-gpus.yaml
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench families schemas goldens picture clean

help:  ## Show this
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

setup: $(STAMP)  ## Make .venv with pinned versions

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: setup  ## Solve a shipped case and check the answer
	$(BIN)/fabopt solve $(CASE) --json demo-design.json --bom demo-bom.xlsx
	$(BIN)/fabopt check demo-design.json

test: setup  ## Run every test
	$(BIN)/python -m pytest -n auto

lint: setup  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup  ## Measure speed, as ratios in one run
	$(BIN)/python -m tests.bench

families: setup  ## Compare the families on the same 64-port 400G parts
	$(BIN)/python -m tests.families_table

schemas: setup  ## Write docs/schemas from the types
	$(BIN)/python -m fabopt.cli.schemas docs/schemas

goldens: setup  ## Write the programs that tests compare whole
	$(BIN)/python -m tests.program.lp_goldens

picture: setup  ## Take the README's picture of a report
	$(BIN)/python docs/photograph_report.py docs/img/report.png

clean:  ## Remove what make made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache demo-design.json demo-bom.xlsx
