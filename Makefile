# Two commands do everything on a fresh machine with Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SAMPLE := samples/cases/lab-ring-before

.PHONY: demo test test-all test-size test-time check editor axe bench docs pictures clean

# What a user needs; the tests need more, below. Nothing is compiled beforehand: Python does so for what a command uses.
$(VENV)/.installed: setup.cfg
	@echo "Installing Backline into $(VENV): about 75 MB, under a minute on a usual line."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check --no-compile -e .
	@touch $@

$(VENV)/.ready: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

demo: $(VENV)/.installed
	@echo; echo "Triage of a sample case, $(SAMPLE):"; echo
	@$(BIN)/backline triage $(SAMPLE) -o out/demo
	@echo; echo "Next:"
	@echo "  open out/demo/report.html in a browser             the case report"
	@echo "  $(BIN)/backline YOUR-BUNDLE.tgz -o out/mine --open  your own case"
	@echo "  $(BIN)/pip install '.[web]' && $(BIN)/backline serve   the page to drop files on"
	@echo "  docs/tutorial-triage.md                            ten minutes, step by step"

# What a contributor runs: every test that needs no second, and all that they prove.
test: $(VENV)/.ready
	$(BIN)/python -m pytest -q -n auto --dist worksteal --hold-times -m "not process and not size and not timed"

# Also what starts programs, servers and browsers, and what is slow for its size. No time is held here: beside browsers
# and servers a test takes twice its own, and a slow machine is no fault of the code.
test-all: $(VENV)/.ready
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not timed and not release"

# What compares the time of two works: one after the other, on a machine that does nothing else. Before a release, and
# after a change of what reads; a busy machine would refuse sound code.
test-time: $(VENV)/.ready
	$(BIN)/python -m pytest -q -n 0 -m timed

# Everything but `timed`, with inputs of real size (up to 300 MB, a million lines, all screens), and what is handed out,
# clusters and long memory tests, which are marked `release`: before a release, and after a change of what reads.
test-size: $(VENV)/.ready
	BACKLINE_FULL_SIZE=1 $(BIN)/python -m pytest -q -n auto --dist worksteal -m "process or size or release"

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/docs.py --check
	$(BIN)/python tools/house.py --check

# The language server of editors, for the tests marked `editor`; they are skipped without it.
editor: tools/editor/node_modules/.package-lock.json

tools/editor/node_modules/.package-lock.json: tools/editor/package-lock.json
	npm ci --prefix tools/editor --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# axe-core, for the tests marked `axe`; they are skipped without it.
axe: tools/axe/node_modules/.package-lock.json

tools/axe/node_modules/.package-lock.json: tools/axe/package-lock.json
	npm ci --prefix tools/axe --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# The pages that are made of the program, into docs/ (git ignores them), and the documentation as a site in out/site;
# nothing is fetched but the packages of the extra.
docs: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/python tools/docs.py -o docs
	$(BIN)/python tools/site.py out/site

# The pictures of docs/ and README.md anew, of the page, the report and the fleet page as they are now; needs Chromium.
pictures: $(VENV)/.ready
	$(BIN)/python tools/picture.py

bench: $(VENV)/.ready
	$(BIN)/python tools/bench.py
	$(BIN)/python tools/doubling.py
	$(BIN)/python tools/sick.py

# What is handed out: wheel, wheelhouse, single file, checksums (docs/install.md).
dist: $(VENV)/.ready
	$(BIN)/python tools/dist.py

clean:
	rm -rf $(VENV) out build dist *.egg-info tools/editor/node_modules tools/axe/node_modules
