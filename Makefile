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
override EXERCISE := $(value EXERCISE)
export ASK ITEM SEED EXERCISE

# SELFTEST=1 judges the lab; without it, the day's program runs.
ifneq ($(filter-out 0,$(SELFTEST)),)
  RUN := $(PY) selftest.py
  FLAGS := $(if $(ITEM),--item $$ITEM) $(if $(SEED),--seed $$SEED)
else
  RUN := $(PY) -m shared.program
  FLAGS := $(if $(ASK),--ask="$$ASK")
endif

.PHONY: help progress doctor env env-dev test check labs pictures bench clean

help: ## show this list | 显示本列表
	@case "$${LAB_LANG:-$${LC_ALL:-$${LC_MESSAGES:-$${LANG:-en}}}}" in zh*) zh=1;; *) zh=0;; esac; \
	awk -v zh="$$zh" 'BEGIN { FS = " *(##|#:) *| *[|] *" } \
	  /^#:/ { print zh ? $$3 : $$2 } \
	  /^[a-z][a-z%-]*:.*## / { \
	    name = $$1; sub(/:.*/, "", name); sub(/%/, "23", name); \
	    printf "  %-14s %s\n", name, zh ? $$3 : $$2 }' Makefile

lab-%: env ## run day 23 on your files in labs/; SELFTEST=1 checks them instead | 用 labs/ 中你的文件运行第 23 天；SELFTEST=1 改为自检
	@$(RUN) $* $(FLAGS) $(ARGS)

solution-%: env ## the same with the solution | 同上，使用参考答案
	@$(RUN) $* --solution $(FLAGS) $(ARGS)

watch-%: env ## judge on every save | 每次保存都自检
	@$(PY) selftest.py watch $* $(if $(ITEM),--item $$ITEM) $(ARGS)

hint-%: env ## one hint for the first red item (ITEM=4 for another) | 给出第一个未通过项的提示（ITEM=4 指定另一项）
	@$(PY) selftest.py hint $* $(if $(ITEM),--item $$ITEM) $(ARGS)

trace-%: env ## what crossed the wires; ARGS=--html or ARGS=--mermaid | 线路上的报文；ARGS=--html 或 ARGS=--mermaid
	@$(PY) selftest.py trace $* $(if $(ITEM),--item $$ITEM) $(ARGS)

probe-%: env ## ask your server two things, and see it answer | 问你的 server 两句话，看它怎样回答
	@$(PY) selftest.py probe $* $(ARGS)

quiz-%: env ## the interview questions, and the checklist | 面试题与检查清单
	@$(PY) selftest.py quiz $* $(ARGS)

reset-%: env ## blanks as they came (EXERCISE=2 for one), with a backup | 把空恢复原样（EXERCISE=2 只恢复一个），先备份
	@$(PY) selftest.py reset $* $(if $(EXERCISE),--exercise $$EXERCISE) $(ARGS)

solve-%: env ## the solution into the blanks (EXERCISE=2 for one), with a backup | 填入参考答案（EXERCISE=2 只填一个），先备份
	@$(PY) selftest.py solve $* $(if $(EXERCISE),--exercise $$EXERCISE) $(ARGS)

undo-%: env ## take back the latest reset, solve or update | 撤销最近一次 reset、solve 或 update
	@$(PY) selftest.py undo $* $(ARGS)

update-%: env ## take over what the course has changed in your files | 把课程的更新合并到你的文件
	@$(PY) selftest.py update $* $(ARGS)

progress: env ## where you are | 你学到哪里了
	@$(PY) selftest.py progress $(ARGS)

doctor: env ## what is amiss with this machine | 检查这台机器的环境
	@$(PY) selftest.py doctor $(ARGS)

env: ## build .venv, once | 构建 .venv（只需一次）
	@$(BOOTSTRAP) $(if $(filter env,$(MAKECMDGOALS)),,--quiet)

env-dev:
	@$(BOOTSTRAP) --dev --quiet

test: env-dev ## run the tests of the course | 运行课程的测试
	@$(PY) -m pytest -n 2 $(ARGS)

check: env-dev ## labs/ against solutions/, style and types | 检查 labs/ 与 solutions/ 是否一致、代码风格与类型
	@$(PY) -m shared.authoring.build --check
	@$(PY) -m shared.authoring.catalogue --check
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

labs: env ## generate labs/ from solutions/ | 由 solutions/ 生成 labs/
	@$(PY) -m shared.authoring.build $(ARGS)

pictures: env ## draw docs/pictures/ from real runs | 由真实运行绘制 docs/pictures/
	@$(PY) -m shared.authoring.pictures

bench: env-dev ## measure how fast the self-test is | 测量自检的速度
	@$(PY) -m tests.bench $(ARGS)

clean: ## remove .venv and caches; your work and its backups stay | 删除 .venv 和缓存；你的作业与备份会保留
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache build *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

#: ITEM=4  EXERCISE=2  SEED=7  ASK="a question"  MOCK=1  LAB_LANG=zh  PYTHON=python3.12  ARGS="--any --flag" | ITEM=4  EXERCISE=2  SEED=7  ASK="问题"  MOCK=1  LAB_LANG=zh  PYTHON=python3.12  ARGS="--其他 --参数"
