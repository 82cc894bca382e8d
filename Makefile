# Two commands do everything on a fresh machine with Python 3.11 and pip:
#   make demo   learn the 1000 ImageNet labels and look at them
#   make test   all checks that need no system packages
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint types tests core lowest spark bench fuzz audit licences docs dist clean

demo: $(VENV)/core
	$(BIN)/phcle demo --out demo
	@echo "(first: . $(BIN)/activate)"

test: lint types tests

lint: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# Three systems: a name that only one of them has is an error on the others.
types: $(VENV)/dev
	$(BIN)/mypy --platform linux
	$(BIN)/mypy --platform darwin
	$(BIN)/mypy --platform win32

# A thread per process: there is a process per core, and more threads only wait.
tests: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n auto --dist worksteal

# A warning is an error; the tests build the site as well, and run every example.
docs: $(VENV)/dev
	$(BIN)/python -m sphinx -W --keep-going -q docs site
	@echo "site/index.html"

# What would be uploaded, tried in clean environments of every Python that is here.
dist: $(VENV)/dev
	$(PIP) build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist paper
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_wheel.py

# The command line must start with the core dependencies alone.
core: .venv-core/done
	.venv-core/bin/python tools/check_wheel.py --here

# A part of the tests with the lowest versions that pyproject.toml allows. Old versions
# may warn that they use what newer ones of others deprecate.
lowest: .venv-lowest/done
	OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -q -n auto -p no:cacheprovider \
	  -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning \
	  tests/unit/test_files.py tests/unit/test_options.py tests/unit/contexts \
	  tests/unit/embedding tests/unit/test_estimator.py \
	  tests/unit/model/test_checkpoint.py tests/unit/cli/test_cli_add.py \
	  tests/unit/cli/test_cli_fit.py tests/unit/cli/test_cli_queries.py

# Another 450 MB; one test needs it, and Java.
spark: $(VENV)/dev
	$(PIP) -e '.[spark]'

bench: $(VENV)/dev
	$(PIP) -e '.[benchmarks]'
	$(BIN)/python benchmarks/speed.py

# Three minutes for each family of readers; what is found lies in faults/.
fuzz: $(VENV)/dev
	$(PIP) atheris
	$(BIN)/python tools/fuzz_readers.py --seconds 180
	$(BIN)/python tools/fuzz_readers.py --forged 20000

# Known weaknesses of the pinned versions; asks a public database, so it needs the network.
audit: $(VENV)/bin/python
	$(PIP) pip-audit
	$(BIN)/pip-audit -r constraints.txt --no-deps --disable-pip

# Licences of all packages in the environment, as they state them; for a release.
licences: $(VENV)/dev
	$(PIP) pip-licenses
	mkdir -p dist
	$(BIN)/pip-licenses --from=mixed --format=markdown --output-file=dist/licences.md

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	touch $@

$(VENV)/dev: $(VENV)/core paper/pyproject.toml
	$(PIP) -e '.[dev]' -e ./paper
	touch $@

.venv-core/done: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-core
	.venv-core/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt .
	touch $@

# NumPy 2.0 has no wheels for Python 3.13 and later.
.venv-lowest/done: pyproject.toml
	$(shell command -v python3.11 || echo $(PYTHON)) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest --resolution lowest-direct \
	  -e '.[graphs]'
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest -c constraints.txt \
	  hypothesis pytest pytest-xdist
	touch $@

clean:
	rm -rf $(VENV) .venv-core .venv-lowest demo site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
