# floatgate: `make help` lists the targets. `make demo` and `make test` do all set-up by themselves.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
# What the extension is made from; Python sources are installed in place and need no build.
SOURCES := $(shell find crates configs/drives configs/twins -type f \( -name '*.rs' -o -name '*.toml' \) \
	-not -path '*/tests/*' -not -path '*/benches/*' -not -path 'crates/bench/*' 2>/dev/null)
INPUTS := $(SOURCES) Cargo.toml Cargo.lock pyproject.toml
# Rustup's cargo is found without a login shell too.
export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Maturin must build for our environment, whatever is active around it.
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin
DEVELOP = $(MATURIN) develop --extras dev && $(BIN)/python scripts/build_record.py dev && rm -f $(STAMPS)/release && touch $(STAMPS)/packages $(STAMPS)/extension
# Nextest runs the tests of all programs side by side, but no examples of documentation; plain cargo runs one program after the other.
CARGO_TEST := cargo test --workspace
ifneq ($(shell command -v cargo-nextest),)
CARGO_TEST := cargo nextest run --workspace && cargo test --workspace --doc
endif

.PHONY: help demo leaderboard test test-rust test-python wheel extra check long properties mutants build dev bench bench-live bench-compare fuzz golden lint lint-rust lint-python docs site clean prerequisites

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: build ## run the shipped trace and write a report
	@$(BIN)/floatgate run configs/experiments/demo.toml --out runs/demo --force
	@echo "open $(CURDIR)/runs/demo/report.html"

test: test-rust test-python ## run all tests, Rust and Python

# Behind the extension, with which it shares what is compiled.
test-rust: $(STAMPS)/extension
	$(CARGO_TEST)

test-python: $(STAMPS)/extension
	$(BIN)/python -m pytest tests/python --numprocesses auto --dist loadfile

wheel: $(STAMPS)/environment | prerequisites ## build a wheel into dist/, install it into an empty environment and run first commands from there
	$(BIN)/python scripts/wheel.py

extra: $(STAMPS)/release $(STAMPS)/site wheel ## run the slow commands of README.md and docs/ too and all notebooks, check the built site, a wheel and all kinds of pages
	FLOATGATE_DOCS=slow FLOATGATE_PAGES=all $(BIN)/python -m pytest tests/python/test_docs_pages.py tests/python/test_site.py \
		tests/python/test_notebooks.py tests/python/test_pages_in_browser.py

check: $(STAMPS)/extension ## lint and the tests nearest to what has changed (SINCE=COMMIT, else what is not committed)
	$(BIN)/python scripts/check.py $(if $(SINCE),--since "$(SINCE)")

# Two have commands of their own (CONTRIBUTING.md): one needs blkparse, the other takes minutes by itself.
long: $(STAMPS)/extension ## run the tests that `make test` leaves out because they take long, Rust and Python
	cargo test --workspace --no-fail-fast -- --ignored --skip events_are_those_of_blkparse_itself --skip whole_twins_hold_their_figures
	$(BIN)/python -m pytest tests/python -m long --numprocesses auto --dist load

properties: ## run the random tests with 30 times as many cases (FLOATGATE_TIMES)
	times=$${FLOATGATE_TIMES:-30}; \
	FLOATGATE_TIMES=$$times FLOATGATE_CASES=$$((times * 2000)) FLOATGATE_FUZZ_CASES=$$((times * 64)) \
		cargo test -p floatgate-python -p floatgate-experiment -p floatgate-trace -p floatgate-patterns --no-fail-fast

mutants: $(STAMPS)/environment ## change the code of CRATE bit by bit, list changes that no test notices (DRAW, SEED, MINUTES, SHARD, SINCE)
	$(BIN)/python scripts/mutants.py $(CRATE) --minutes $(or $(MINUTES),30) $(if $(DRAW),--draw "$(DRAW)") \
		$(if $(SEED),--seed "$(SEED)") $(if $(SHARD),--shard "$(SHARD)") $(if $(SINCE),--since "$(SINCE)")

build: $(STAMPS)/release ## build the extension for use, with link-time optimization, and leave .venv/bin/floatgate

dev: $(STAMPS)/environment | prerequisites ## build the extension for work on it: seconds after an edit, a slower simulator
	$(DEVELOP)

# MQSIM and FTLSIM are the reader's own builds of other simulators (docs/performance.md).
bench: build ## measure speed and memory beside their yardsticks, keep the figures, renew docs/performance.md
	context=$$($(BIN)/python scripts/bench_history.py context); \
	export FLOATGATE_BENCH_CONTEXT="$$context" FLOATGATE_BENCH_HISTORY="$(CURDIR)/bench/history.jsonl"; \
	cargo run --release -p floatgate-bench; \
	$(BIN)/python scripts/bench_memory.py; \
	$(BIN)/python scripts/bench_commands.py; \
	$(BIN)/python scripts/bench_plugins.py; \
	if [ -n "$(MQSIM)$(FTLSIM)" ]; then \
		$(BIN)/python scripts/compare_peers.py $(if $(MQSIM),--mqsim "$(MQSIM)") $(if $(FTLSIM),--ftlsim "$(FTLSIM)"); \
	fi
	$(BIN)/python scripts/bench_table.py

bench-live: build ## measure a live drive under fio: requests per second, late replies, memory of a drive of 1 TiB
	$(BIN)/python scripts/bench_live.py

bench-compare: $(STAMPS)/environment ## the last bench beside the one before, or AGAINST=COMMIT, DATE or NUMBER
	@$(BIN)/python scripts/bench_compare.py $(if $(AGAINST),--against "$(AGAINST)")

fuzz: $(STAMPS)/extension ## damage what floatgate reads (traces, captures, JSON, hints) for a minute each (FLOATGATE_FUZZ_SECONDS)
	FLOATGATE_FUZZ_SECONDS=$${FLOATGATE_FUZZ_SECONDS:-60} cargo test -p floatgate-trace --test it fuzz:: -- --nocapture
	FLOATGATE_FUZZ_SECONDS=$${FLOATGATE_FUZZ_SECONDS:-60} cargo test -p floatgate-capture damaged -- --test-threads 1
	$(BIN)/python scripts/fuzz.py --seconds $${FLOATGATE_FUZZ_SECONDS:-60}

golden: $(STAMPS)/extension ## renew the golden results; read the diff
	$(BIN)/python scripts/golden.py --renew

lint: lint-rust lint-python ## check words, licences of others, format and lints of Rust and Python

# Neither needs the extension; .ci/run has both at once.
lint-rust: | prerequisites
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

lint-python: $(STAMPS)/packages
	$(BIN)/python scripts/words.py
	$(BIN)/python scripts/licences.py --check
	$(BIN)/ruff check python tests/python scripts notebooks
	$(BIN)/ruff format --check python tests/python scripts notebooks
	$(BIN)/mypy

docs: $(STAMPS)/extension ## renew the generated pages of docs/
	$(BIN)/python scripts/docs.py
	$(BIN)/python scripts/library_docs.py
	$(BIN)/python scripts/licences.py

leaderboard: build ## rank all separators on all shipped traces (minutes), renew docs/leaderboard.md
	$(BIN)/python scripts/leaderboard.py
	$(BIN)/python scripts/docs.py

# The pages of Python are read from the source, those of Rust need a build of their own.
site: $(STAMPS)/site ## write the documentation as a site, to read without a network: site/index.html (RUST=1 adds the Rust API)
	$(if $(RUST),cargo doc --workspace --no-deps --locked)
	PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open $(CURDIR)/site/index.html"

clean: ## remove what was built (runs/ stays)
	rm -rf $(VENV) target site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/floatgate/_core*.so python/floatgate/build.json

# Says what is missing before anything fails on it.
prerequisites:
	@command -v cargo >/dev/null || { \
		echo "error: cargo is missing; expected Rust from rustup (https://rustup.rs)" >&2; exit 2; }
	@wanted=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	found=$$(rustc --version | cut -d ' ' -f 2); \
	[ "$$(printf '%s\n' "$$wanted" "$$found" | sort -V | head -n 1)" = "$$wanted" ] || { \
		echo "error: Rust $$found is too old; expected $$wanted or newer: rustup update" >&2; exit 2; }
	@command -v cc >/dev/null || { \
		echo "error: no C compiler; expected Debian package build-essential" >&2; exit 2; }
	@[ -x $(BIN)/python ] || command -v "$${PYTHON:-python3}" >/dev/null || { \
		echo "error: python3 is missing; expected Debian packages python3 and python3-venv" >&2; exit 2; }
	@[ -x $(BIN)/python ] || "$${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: $$("$${PYTHON:-python3}" --version) is too old; expected 3.11 or newer (make PYTHON=...)" >&2; \
		exit 2; }
	@[ -x $(BIN)/python ] || "$${PYTHON:-python3}" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "error: python3 cannot make environments; expected Debian package python3-venv" >&2; exit 2; }

$(STAMPS)/environment: pyproject.toml | prerequisites
	@[ -x $(BIN)/python ] && $(BIN)/python -m pip --version >/dev/null 2>&1 || { \
		rm -rf $(VENV); "$${PYTHON:-python3}" -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet 'maturin>=1.16,<2'
	@mkdir -p $(STAMPS) && touch $@

# With the profile of the tests, whose libraries it shares. A current extension of either kind does for tests.
$(STAMPS)/extension: $(STAMPS)/environment $(INPUTS) | prerequisites
	$(DEVELOP)

# What lint of Python wants, which builds nothing.
$(STAMPS)/packages: $(STAMPS)/environment
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; print(*p["dependencies"], *p["optional-dependencies"]["dev"], sep="\n")' \
		| $(BIN)/python -m pip install --quiet --requirement /dev/stdin
	@touch $@

# The packages of the extra `site` alone: it builds without the extension.
$(STAMPS)/site: $(STAMPS)/environment
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["site"], sep="\n")' \
		| $(BIN)/python -m pip install --quiet --requirement /dev/stdin
	@touch $@

$(STAMPS)/release: $(STAMPS)/environment $(INPUTS) | prerequisites
	$(MATURIN) develop --release --extras dev
	$(BIN)/python scripts/build_record.py release
	@touch $(STAMPS)/packages $(STAMPS)/extension $@
