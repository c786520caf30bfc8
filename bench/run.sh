#!/usr/bin/env bash
# Compares the engine with its peers; see run.py.  bench/run.sh [ROW...] [--rounds N] [--fast]
exec python3 "$(dirname "$0")/run.py" "$@"
