# Two words: `make lab` opens the course, `make test` proves that it runs on this machine. README.md has both
# for machines without make.

PYTHON ?= python3
LAB_ARGS ?=
BIN := .venv/bin

.DEFAULT_GOAL := lab
.PHONY: lab test

lab: .venv/ready  ## open the course in JupyterLab
	@echo "== Copying the chapters and exercises to work/ (what you changed there stays)"
	@$(BIN)/python -m authoring work
	@echo "== Opening JupyterLab: Ctrl-C here ends it"
	@OMP_NUM_THREADS=1 $(BIN)/jupyter lab --LabApp.default_url=lab/tree/work/notebooks/00_start.ipynb $(LAB_ARGS)

test: .venv/ready  ## run every chapter once, in a few minutes, and store nothing
	OMP_NUM_THREADS=1 $(BIN)/python -m authoring try

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("The course needs Python 3.11 or newer, and \
	$(PYTHON) is " + sys.version.split()[0] + ". Name another one: make lab PYTHON=python3.12")'
	@echo "== Making .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.8"
	@echo "== Fetching the course and what it is built on, into .venv"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint requirements.lock --editable ".[course]"
	@echo "== Setting up JupyterLab"
	@$(BIN)/python -m authoring lab
	@touch $@
