# Two commands do everything on a fresh machine with Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SAMPLE := samples/cases/lab-ring-before

.PHONY: demo test check editor bench clean

$(VENV)/.ready: setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/backline triage $(SAMPLE) -o out/demo

test: $(VENV)/.ready
	$(BIN)/python -m pytest -q -n auto

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/docs.py --check

# The language server of editors, for the tests marked `editor`; they are skipped without it.
editor: tools/editor/node_modules/.package-lock.json

tools/editor/node_modules/.package-lock.json: tools/editor/package-lock.json
	npm ci --prefix tools/editor --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

bench: $(VENV)/.ready
	$(BIN)/python tools/bench.py

clean:
	rm -rf $(VENV) out build dist *.egg-info tools/editor/node_modules
