#!/usr/bin/env bash
# Makes all golden model files anew. Each Keras gets a virtual environment of its own below $1 (default: .golden-venvs).
set -euo pipefail
cd "$(dirname "$0")"
venvs=${1:-.golden-venvs}

make() {
  local kind=$1
  shift
  [ -x "$venvs/$kind/bin/python" ] || python3 -m venv "$venvs/$kind"
  "$venvs/$kind/bin/python" -m pip install -q "$@"
  "$venvs/$kind/bin/python" make.py "$kind"
}

make keras3 'keras==3.15.*' 'tensorflow-cpu==2.21.*'
make tf_keras 'tf-keras==2.21.*' 'tensorflow-cpu==2.21.*'
make tf212 'tensorflow-cpu==2.12.*' 'numpy<1.24'  # Python 3.8 to 3.11
"$venvs/tf212/bin/python" make_old.py
