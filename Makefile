# Everything a newcomer types. `make help` lists it.
PYTHON := $(firstword $(wildcard /usr/bin/python3.11) python3)
BOX := $(PYTHON) -m box
ENGINE ?= transformers

.DEFAULT_GOAL := help
.PHONY: help demo up down status test check bench doctor images env

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## set everything up, evaluate a real model, show it on the board (ENGINE=vllm for vLLM's CPU build)
	@$(BOX) demo --engine $(ENGINE)

up: ## bring services and processes up, nothing more
	@$(BOX) up --engine $(ENGINE)

down: ## stop everything; nothing is lost
	@$(BOX) down

status: ## what runs
	@$(BOX) status

test: ## set everything up and run the whole suite on the real parts (ONLY=path runs a part)
	@$(BOX) test $(ONLY)

check: ## ruff, mypy strict, import contracts
	@$(BOX) check

bench: ## compare with the bare engine and write var/bench/NAME.json (ONLY=name runs one)
	@$(BOX) bench $(ONLY)

doctor: ## explain what is wrong with this machine
	@$(BOX) doctor

images: ## build the guest images
	@$(BOX) images

env: ## build the Python environments
	@$(BOX) env
