# The same commands CI runs, by their short names.
.PHONY: demo test long lint fix docs package bench stress reproduce
demo: ; ./scripts/demo
test: ; ./scripts/test
long: ; ./scripts/test --slow
lint: ; ./scripts/lint
fix: ; ./scripts/lint --fix
docs: ; ./scripts/docs
package: ; ./scripts/package
bench: ; ./scripts/bench
stress: ; ./scripts/stress
reproduce: ; ./scripts/reproduce all
