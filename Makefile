# The project's commands. `make` alone lists them; README.md has the same steps for machines without make.

PYTHON ?= python3
LAB_ARGS ?=
BENCH_ARGS ?=
DEMO_ARGS ?=
GRADE_ARGS ?=
CHAPTER ?=
IN ?=
OUT ?=
PYODIDE ?=
LAST ?=
N ?=
WAYS ?=
BIN := .venv/bin
DISHONEST := tests/classroom/test_dishonest.py
READY := .venv/ready
# The shell's own TERM is the type of its terminal: only a TERM given on make's command line is a class's term.
WITH_TERM = $(if $(filter command,$(origin TERM)),--term $(TERM))

.DEFAULT_GOAL := help
.PHONY: help lab test test-everywhere test-long test-gpu check check-grading check-browser check-lock grade grade-demo student teacher chapter exercises book pdf epub slides lite browser-tools bench lock clean

help:  ## list these commands
	@awk -F ':.*##  *' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(READY)  ## open the course in JupyterLab (LAB_ARGS="..." goes to jupyter)
	@echo "== Copying the chapters and exercises to work/ (files that you changed are kept)"
	@$(BIN)/python -m authoring work
	@echo "== Opening JupyterLab: Ctrl-C here stops it"
	@OMP_NUM_THREADS=1 $(BIN)/jupyter lab --LabApp.default_url=lab/tree/work/notebooks/00_start.ipynb $(LAB_ARGS)

test: check  ## test the course: check, then every notebook and every solution against its stored outputs
	@echo "== Running every notebook and every solution"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --nbval -n 2 --dist loadfile notebooks solutions

test-everywhere: $(READY)  ## test that stored outputs hold on other processors (WAYS="up down")
	$(BIN)/python -m authoring everywhere $(WAYS)

test-long: $(READY)  ## run the longer tests: the grader, and every chapter in a browser
	@echo "== Running dishonest answers, graded two at a time"
	$(BIN)/python -m pytest -n 2 --dist worksteal $(DISHONEST)
	@echo "== Running the other tests of the grader, one at a time: they depend on times and processes"
	$(BIN)/python -m pytest tests/classroom --ignore $(DISHONEST)
	@echo "== Running every chapter in a browser"
	$(BIN)/python -m pytest -m "browser and not long" -n 2 --dist worksteal -rs tests/browser

test-gpu: $(READY)  ## test layers and chapter 21 on a GPU (needs CuPy in .venv, and a device)
	@$(BIN)/python -c 'import sys; from course.stand_ins.gpu import find_cupy; sys.exit(find_cupy()[1] or None)'
	$(BIN)/python -m pytest -m gpu tests/test_contract.py tests/test_backend.py
	$(BIN)/python -m pytest --nbval-lax notebooks/21_gpu.ipynb

check: $(READY)  ## test the code: ruff, the tests, the examples in the docstrings
	@echo "== Checking the code with ruff"
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@echo "== Running the tests, and the examples in the docstrings"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --ignore tests/classroom

check-grading: $(READY)  ## test the grader in full: fuzzing, every answer, crashes, 1,000 submissions
	GRADING_STUDENTS=1000 $(BIN)/python -m pytest -m "long or not long" tests/classroom

check-browser: $(READY)  ## test the book and its chapters in a browser in full (see browser-tools)
	$(BIN)/python -m pytest -m browser -n 2 --dist worksteal -rs tests/browser

student: $(READY)  ## make the students' bundle, without solutions: dist/...zip (TERM=2027-spring LAST=08)
	$(BIN)/python -m classroom.bundle student $(WITH_TERM) $(if $(LAST),--last $(LAST))

teacher: $(READY)  ## make the teacher's bundle, with answers and grader: dist/...zip (TERM=2027-spring)
	$(BIN)/python -m classroom.bundle teacher $(WITH_TERM)

grade: $(READY)  ## grade a class: CHAPTER=04_closures IN=folder OUT=folder (GRADE_ARGS="..." for the grader)
	@test -n "$(CHAPTER)" -a -n "$(IN)" -a -n "$(OUT)" || { echo "Which class? For example: \
	make grade CHAPTER=04_closures IN=handed-in OUT=marks"; exit 2; }
	$(BIN)/python -m classroom grade "$(IN)" --chapter $(CHAPTER) --out "$(OUT)" $(GRADE_ARGS)

grade-demo: $(READY)  ## grade a small generated class, and open its report (needs bubblewrap)
	$(BIN)/python -m classroom.demo $(DEMO_ARGS)

chapter: $(READY)  ## run chapter N=04 and its solutions from clean, store the outputs, and test them
	@test -n "$(N)" || { echo "Which chapter? For example: make chapter N=04"; exit 2; }
	$(BIN)/python -m authoring run $(N)
	$(BIN)/python -m authoring exercises
	$(BIN)/python -m pytest --nbval notebooks/$(N)_*.ipynb solutions/$(N)_*/*.ipynb
	$(BIN)/python -m pytest tests/house tests/book tests/course -k "$(N)_"

exercises: $(READY)  ## make exercises/ from solutions/
	$(BIN)/python -m authoring exercises

book: $(READY)  ## build the book; every warning is an error
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --builder html book book/_build/html
	@echo "== Open book/_build/html/index.html"

pdf: $(READY)  ## make PDFs of the book and the teacher's guide (needs latexmk and XeLaTeX)
	@command -v latexmk >/dev/null && command -v xelatex >/dev/null || { echo "make pdf needs latexmk and XeLaTeX. \
	On Debian: apt install latexmk texlive-xetex texlive-latex-extra texlive-fonts-recommended fonts-dejavu"; exit 2; }
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --builder latex -d book/_build/paper book book/_build/latex
	cd book/_build/latex && latexmk -xelatex -interaction=nonstopmode -silent minigrad.tex minigrad-teaching.tex
	@echo "== Open book/_build/latex/minigrad.pdf and book/_build/latex/minigrad-teaching.pdf"

epub: $(READY)  ## make an EPUB of the book (needs no more than the book)
	@rm -rf book/_build/epub  # Sphinx would include files of an earlier build
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --builder epub -d book/_build/reader \
	    -D version="$$($(BIN)/python -c \
	    'from importlib.metadata import version; print(version("minigrad-course"))')" book book/_build/epub
	@echo "== Open book/_build/epub/minigrad.epub"

slides: $(READY)  ## make the slides of every chapter, in the book's folder
	$(BIN)/python -m book.slides

lite: $(READY)  ## build the site that runs the course in a browser, in the book's folder (PYODIDE=folder)
	$(BIN)/python -m book.lite $(if $(PYODIDE),--pyodide "$(PYODIDE)")

browser-tools: $(READY)  ## fetch the packages of the browser tests besides PYODIDE_WHEELS, from npm and PyPI
	npm ci --prefix tests/browser --ignore-scripts --no-audit --no-fund
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
	    --python-version 3.14 --only-binary=:all: --dest tests/browser/wheels -r tests/browser/requirements.txt

bench: $(READY)  ## time minigrad, raw NumPy and PyTorch, and the interactive pictures (BENCH_ARGS="..." for the first)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)
	@if command -v node >/dev/null && test -d tests/browser/node_modules/playwright-core && \
	    { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then \
	    echo "== Timing the interactive pictures in Chromium"; \
	    $(BIN)/python -m pytest -m frames -q -s tests/browser; \
	else echo "The interactive pictures are not timed: that needs Node, Chromium, and make browser-tools."; fi

lock: .venv/bin/uv  ## resolve the newest versions into requirements.lock
	$(BIN)/uv --no-config pip compile --upgrade --universal --python-version 3.11 --fork-strategy fewest \
	    --extra course --extra dev --extra book --extra lite --extra cluster --generate-hashes \
	    --custom-compile-command "make lock" \
	    --quiet --output-file requirements.lock pyproject.toml

# PyYAML has no wheel for Windows on ARM with Python 3.11, where pip builds it, without a compiler.
check-lock: .venv/bin/uv  ## check that every locked package has a wheel for each system and processor
	@for system in x86_64-pc-windows-msvc aarch64-pc-windows-msvc x86_64-apple-darwin aarch64-apple-darwin \
	    x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do for version in 3.12 3.14; do \
	    echo "== $$system, Python $$version"; $(BIN)/uv --no-config pip install --quiet --dry-run --python $(BIN)/python \
	    --python-platform $$system --python-version $$version --target .venv/elsewhere --require-hashes \
	    --only-binary :all: -r requirements.lock || exit; done; done

clean:  ## remove everything that these commands made, except your work/
	rm -rf .venv .pytest_cache .ruff_cache dist book/_build book/notebooks book/exercises book/reference
	find . -name work -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -type d -exec rm -rf {} +
	@test ! -e .git || { git config --local --remove-section diff.jupyternotebook; \
	    git config --local --remove-section merge.jupyternotebook; } 2>/dev/null || true

# The environment: made once, and again when the lock or pyproject.toml changes. Git runs its drivers at the top
# of the working tree.
$(READY): requirements.lock pyproject.toml | .venv/bin/uv
	@echo "== Fetching the course's packages (200 MB, unless this machine has them already)"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	@echo "== Installing the course into .venv, and compiling it: half a minute"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --no-deps --no-build-isolation --editable .
	@echo "== Setting up JupyterLab"
	@$(BIN)/python -m authoring lab
	@test ! -e .git || { \
	    git config --local diff.jupyternotebook.command "$(BIN)/git-nbdiffdriver diff" && \
	    git config --local merge.jupyternotebook.name "merge notebooks by cells" && \
	    git config --local merge.jupyternotebook.driver "$(BIN)/git-nbmergedriver merge %O %A %B %L %P"; } \
	    || echo "   (git keeps its plain diff for notebooks)"
	@touch $@

.venv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("The course needs Python 3.11 or newer, and \
	$(PYTHON) is " + sys.version.split()[0] + ". Choose another one: make lab PYTHON=python3.12")'
	@echo "== Making .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.8"
