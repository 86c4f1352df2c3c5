# Everything that a checkout needs. Works with GNU make 3.81 (macOS); the work is done by scripts/.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
BIN := .venv/bin
SCRIPTS := scripts/*.sh scripts/base_image/*.sh .ci/run

.PHONY: help demo study study-sensitivity study-pilot study-quick setup venv train-venv engine engine-stop base-image test test-train test-slow lint format reference constraints clean

help: ## Show what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

demo: setup ## Measure 30 bundled seeds, make 20 verified environments from them (runs/latest)
	@$(BIN)/envs-forge run -p seeds -l 30 -k 4 -N 20

study: setup ## The study in miniature (studies/full); long, and the same command goes on with it
	@$(BIN)/envs-forge compare -c examples/study.toml -o studies/full

study-sensitivity: study ## The same with readers of other kinds; shares candidates and rewards
	@$(BIN)/envs-forge compare -c examples/study-sensitivity.toml -o studies/full

study-pilot: setup ## What the actions do to tasks, before a study (studies/pilot): shifts and factors for its learned arms
	@$(BIN)/envs-forge compare -c examples/study-pilot.toml -o studies/pilot
	@$(BIN)/envs-forge calibrate studies/pilot

study-quick: setup ## Its shape (studies/quick), about ten minutes
	@$(BIN)/envs-forge compare -c examples/study-quick.toml -o studies/quick

setup: venv engine base-image ## Virtual environment, container engine and base image; seconds when they are there

venv: ## The virtual environment .venv with pinned packages
	@scripts/venv.sh

train-venv: ## .venv-train: the same with the extra train (torch, TRL); minutes, 1.5 GB
	@scripts/venv.sh train

engine: ## A container engine: the one that answers, else one installed with apt and started here
	@scripts/engine.sh start

engine-stop: ## Stop the engine that `make engine` started; no other
	@scripts/engine.sh stop

base-image: engine ## The local base image of the bundles
	@scripts/base_image.sh

test: setup lint ## Lint, then all tests but the slow ones
	@scripts/browser.sh
	@scripts/test_train.sh -m "not slow"
	@$(BIN)/pytest -m "not slow" -n auto --maxprocesses 4 --dist loadfile --durations=25 --durations-min=3

test-train: setup train-venv ## All tests of training with TRL
	@scripts/test_train.sh

test-slow: setup ## The tests that take minutes
	@scripts/test_train.sh -m slow
	@$(BIN)/pytest -m slow

lint: venv ## ruff, mypy, import rules, generated reference, shellcheck where it is installed
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m envs_forge.cli.reference --check || { echo "docs/cli.md is stale: run make reference" >&2; exit 1; }
	@if command -v shellcheck >/dev/null; then shellcheck -x -P . $(SCRIPTS); fi

format: venv ## Let ruff mend what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

reference: venv ## Write docs/cli.md from the commands
	@$(BIN)/python -m envs_forge.cli.reference

constraints: venv ## Pin in constraints.txt what .venv holds now
	@{ head -n 1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable | grep -E '^[A-Za-z0-9_.-]+=='; } >constraints.new
	@mv constraints.new constraints.txt

clean: ## Remove both environments, caches and build products; runs, images and the engine stay
	@rm -rf .venv .venv-train .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
