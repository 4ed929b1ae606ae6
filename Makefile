# One command per job; each sets up what it needs. `make help` lists them.
STACK ?= gang
JOBS ?= 2
PYTHON ?= python3
PY := .venv/bin/python
READY := .venv/.ready
# uv is much quicker than pip; pip takes over where uv fails, for example because uv reads no pip.conf.
UV := 0.13.8
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint unit unit-program unit-lockstep mutation e2e up down tools bench sabotage faults clean
.DEFAULT_GOAL := help

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.txt requirements-dev.txt constraints.txt pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lockstep: Python 3.11 or newer is needed; set PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "lockstep: creating .venv (once)"
	@$(PYTHON) -m venv --clear .venv || \
	  { echo "lockstep: cannot create a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@$(INSTALL) uv==$(UV) && VIRTUAL_ENV=.venv .venv/bin/uv pip install --quiet --compile-bytecode \
	  -r requirements-dev.txt 2>/dev/null || $(INSTALL) -r requirements-dev.txt
	@touch $@

demo: $(READY) ## run the scenarios on the embedded cluster, judge each, write out/report.html
	@.venv/bin/lockstep demo

test: lint unit ## lint, types and mocked unit tests; needs PyPI only

lint: $(READY)
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports >/dev/null || .venv/bin/lint-imports

# The tests of the program compute, the others mostly wait: running both at the same time is quicker.
unit: $(READY)
	@$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) \
	  unit-program unit-lockstep
	@$(PY) -m coverage report --include='components/*,settings.py' --fail-under=95

unit-program:
	@$(PY) -W error -m pytest tests/unit --ignore=tests/unit/lockstep --ignore=tests/unit/toolchain \
	  --cov=components --cov=settings --cov-report=

unit-lockstep:
	@$(PY) -W error -m pytest tests/unit/lockstep tests/unit/toolchain -n 3

mutation: $(READY) ## break the judge in small ways and list what no test notices: make mutation ONLY=figures
	@PYTHONHASHSEED=0 nice -n 19 $(PY) -m tests.mutation --jobs $(JOBS) $(ONLY)

e2e: $(READY) ## the real Pulumi engine, API server, Volcano and LWS
	@.venv/bin/lockstep tools
	@$(PY) -m pytest -rs tests/e2e

up: $(READY) ## deploy one stack: make up STACK=gang
	@.venv/bin/lockstep up $(STACK)

down: $(READY) ## destroy one stack and everything that belongs to it: make down STACK=gang
	@.venv/bin/lockstep down $(STACK)

tools: $(READY) ## fetch or build the toolchain (once, about 15 minutes on 2 cores)
	@.venv/bin/lockstep tools

bench: $(READY) ## measure against a hand-written equivalent
	@.venv/bin/lockstep tools
	@$(PY) -m tests.bench

sabotage: $(READY) ## try to fool the verdict, seeded: make sabotage ARGS="--seed 7 --minutes 10"
	@$(PY) -m tests.sabotage $(ARGS)

faults: $(READY) ## kill processes and updates at random moments, seeded: make faults ARGS="--seed 7"
	@$(PY) -m tests.faults $(ARGS)

include toolchain/kind_image/targets.mk

clean: ## remove the virtual environment and outputs (stacks: make down; tools: lockstep tools --clean)
	rm -rf .venv out .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
