# What one does with this project: make demo, make test, make check, make docs, make bench, make matrix.
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name))))
BIN := .venv/bin
STAMP := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test oracle check docs selftest matrix bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /make \1 - /p' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	@echo "make: creating .venv with $(PYTHON) and installing the project (about a minute)"
	@test -n "$(PYTHON)" || { echo "make: no Python found; install Python 3.11 or later, or say PYTHON=..." >&2; exit 1; }
	@command -v curl >/dev/null || { echo "make: curl is missing; the servers ask Gerrit through it" >&2; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

demo: $(STAMP) ## certify the bundled task extension against four simulated Gerrit hosts
	@echo "make: certifying fixtures/extensions/good/task against four simulated Gerrit hosts, two of which have the plugin"
	@$(BIN)/python -m pytest --conformance=fixtures/extensions/good/task --conformance-report=build/certificate
	@echo "make: see build/certificate/certificate.json and build/certificate/junit.xml"

test: $(STAMP) ## run the test suite
	@echo "make: running the tests"
	@$(BIN)/python -m pytest --quiet --numprocesses=auto tests

.venv/.tools: $(STAMP)
	@echo "make: installing the tools that check the code"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group lint
	@touch $@

oracle: $(STAMP) ## compare the simulated Gerrit with a real one (needs Maven and a JDK 21)
	@echo "make: starting a real Gerrit, which the first time is fetched through Maven"
	@$(BIN)/python -m pytest --quiet -m real_gerrit tests/real_gerrit

check: .venv/.tools ## ruff, mypy, import-linter, and that the generated pages are current
	@echo "make: ruff" && $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@echo "make: mypy --strict" && $(BIN)/mypy
	@echo "make: import-linter" && $(BIN)/lint-imports
	@echo "make: the generated pages" && $(BIN)/python docs/generate.py --check

docs: $(STAMP) ## write the generated pages from the registry
	@$(BIN)/python docs/generate.py

selftest: $(STAMP) ## show that every clause catches what breaks it
	@$(BIN)/gerrit-conformance selftest

matrix: $(STAMP) ## every specimen against every clause on both majors of the SDK, into docs/matrix.md (half an hour)
	@echo "make: the full square on both majors of the MCP SDK; see build/matrix-mcp1.json and build/matrix-mcp2.json"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check tox
	@$(BIN)/python -m tox run -e matrix-mcp1,matrix-mcp2
	@$(BIN)/python docs/matrix.py build/matrix-mcp1.json build/matrix-mcp2.json && echo "make: written to docs/matrix.md"

bench: $(STAMP) ## measure speed as ratios within one run
	@$(BIN)/python benchmarks/run.py

clean: ## remove what the other targets made
	rm -rf .venv build .tox
