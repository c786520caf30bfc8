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
make keras35 'keras==3.5.*' 'tensorflow-cpu==2.21.*'
make keras30 'keras==3.0.*' 'tensorflow-cpu==2.21.*' dm-tree
make tf_keras 'tf-keras==2.21.*' 'tensorflow-cpu==2.21.*'
make tf212 'tensorflow-cpu==2.12.*' 'numpy<1.24'  # Python 3.8 to 3.11
"$venvs/tf212/bin/python" make_old.py
# Keras before TensorFlow's own. Theano's pooling indexes as NumPy once allowed.
for version in 1.2.2 2.2.4; do
  kind=keras${version//./}
  [ -x "$venvs/$kind/bin/python" ] || python3 -m venv "$venvs/$kind"
  python=$venvs/$kind/bin/python
  "$python" -m pip install -q 'numpy==1.23.*' 'scipy==1.9.*' h5py setuptools six pyyaml keras-applications==1.0.6 keras-preprocessing==1.0.5
  "$python" -m pip install -q --no-deps Theano==1.0.5 "keras==$version"
  sed -i 's/yk\[\[region_slices\[i\]\[r\[i\]\] for i in xrange(nd)\]\]/yk[tuple(region_slices[i][r[i]] for i in xrange(nd))]/' \
    "$venvs/$kind"/lib/python*/site-packages/theano/tensor/signal/pool.py
  "$python" make_theano.py "$kind"
done
