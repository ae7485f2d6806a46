# GNU make 3.81 or newer, which is what macOS has. Without make: python selftest.py 23
# `make help` shows what stands behind `##` and `#:`, in English or in Chinese.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
  PY := .venv/Scripts/python.exe
else
  PY := .venv/bin/python
endif

# -S: what is installed for this Python is not needed, and may take long to start.
BOOTSTRAP := $(PYTHON) -S shared/bootstrap.py

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# A question may hold any character. The shell gets it as a variable, so that none is lost.
override ASK := $(value ASK)
override ITEM := $(value ITEM)
override SEED := $(value SEED)
export ASK ITEM SEED

# SELFTEST=1 judges the lab; without it, the day's program runs.
ifneq ($(filter-out 0,$(SELFTEST)),)
  RUN := $(PY) selftest.py
  FLAGS := $(if $(ITEM),--item $$ITEM) $(if $(SEED),--seed $$SEED)
else
  RUN := $(PY) -m shared.program
  FLAGS := $(if $(ASK),--ask="$$ASK")
endif

.PHONY: help env env-dev test check labs pictures bench clean

help: ## show this list | 显示本列表
	@case "$${LAB_LANG:-$${LC_ALL:-$${LC_MESSAGES:-$${LANG:-en}}}}" in zh*) zh=1;; *) zh=0;; esac; \
	awk -v zh="$$zh" 'BEGIN { FS = " *(##|#:) *| *[|] *" } \
	  /^#:/ { print zh ? $$3 : $$2 } \
	  /^[a-z][a-z%-]*:.*## / { \
	    name = $$1; sub(/:.*/, "", name); sub(/%/, "23", name); \
	    printf "  %-14s %s\n", name, zh ? $$3 : $$2 }' Makefile

lab-%: env ## run day 23 on your files in labs/; SELFTEST=1 checks them instead | 用 labs/ 中您的文件运行第 23 天；SELFTEST=1 改为自检
	@$(RUN) $* $(FLAGS) $(ARGS)

solution-%: env ## the same with the solution | 同上，使用参考答案
	@$(RUN) $* --solution $(FLAGS) $(ARGS)

env: ## build .venv, once | 构建 .venv（只需一次）
	@$(BOOTSTRAP) $(if $(filter env,$(MAKECMDGOALS)),,--quiet)

env-dev:
	@$(BOOTSTRAP) --dev --quiet

test: env-dev ## run the tests of the course | 运行课程的测试
	@$(PY) -m pytest -n 2 $(ARGS)

check: env-dev ## labs/ against solutions/, style and types | 检查 labs/ 与 solutions/ 是否一致、代码风格与类型
	@$(PY) -m shared.authoring.build --check
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

labs: env ## generate labs/ from solutions/ | 由 solutions/ 生成 labs/
	@$(PY) -m shared.authoring.build $(ARGS)

pictures: env ## draw docs/pictures/ from real runs | 由真实运行绘制 docs/pictures/
	@$(PY) -m shared.authoring.pictures

bench: env-dev ## measure how fast the self-test is | 测量自检的速度
	@$(PY) -m tests.bench $(ARGS)

clean: ## remove .venv and caches; your work and its backups stay | 删除 .venv 和缓存；您的作业与备份会保留
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache build *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

#: ITEM=4  SEED=7  ASK="a question"  MOCK=1  LAB_LANG=zh  PYTHON=python3.12  ARGS="--any --flag" | ITEM=4  SEED=7  ASK="问题"  MOCK=1  LAB_LANG=zh  PYTHON=python3.12  ARGS="--其他 --参数"
