#!/usr/bin/env bash
# Runs tests. If at most three fail, they are run once more, one at a time: what fails again is a failure, and what passes
# is told of as unsteady, here and at the end of make test (docs/decisions/0118-a-failed-test-is-run-once-more.md).
#   scripts/run_tests.sh ctest ARGUMENTS...
#   scripts/run_tests.sh .venv/bin/pytest ARGUMENTS...
set -uo pipefail

most=3
failed_of_ctest=build/Testing/Temporary/LastTestsFailed.log
failed_of_pytest=.pytest_cache/v/cache/lastfailed

# One name a line.
failed() {
  case $1 in
    ctest) [ ! -s $failed_of_ctest ] || sed 's/^[0-9]*://' $failed_of_ctest ;;
    *) [ ! -s $failed_of_pytest ] || sed -n 's/^  "\(.*\)": true,\{0,1\}$/\1/p' $failed_of_pytest ;;
  esac
}

again() {
  case $1 in
    ctest) "$@" --rerun-failed --parallel 1 ;;
    *) "$@" --last-failed --last-failed-no-failures none -n 0 ;;
  esac
}

rm -f $failed_of_ctest $failed_of_pytest
"$@" && exit 0
code=$?
names=$(failed "$@")
count=$(grep -c . <<< "$names")
[ "$count" -ge 1 ] && [ "$count" -le $most ] || exit $code

printf '=== failed, run once more alone: ===\n%s\n' "$names" >&2
again "$@" || exit
printf '=== UNSTEADY: failed among the others, passed alone: a fault of the test or of what it tests ===\n' >&2
tee -a build/unsteady.txt <<< "$names" >&2
