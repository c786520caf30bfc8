from keras.src.backend.common import standardize_dtype  # noqa: F401  (3.16 has it here alone)

from keras_plimsoll.src.names import name_scope  # noqa: F401
from keras_plimsoll.src.ops.core import Variable, compute_output_spec, device_scope  # noqa: F401

SUPPORTS_SPARSE_TENSORS = False
SUPPORTS_RAGGED_TENSORS = False
SUPPORTS_COMPLEX_DTYPES = True
SUPPORTS_GRADIENT = True
IS_THREAD_SAFE = False

distribution_lib = None

from keras_plimsoll.src import tensor as _tensor  # noqa: E402,F401  (operators; it needs the ops)
from keras_plimsoll.src import ops, random, rnn  # noqa: E402,F401  (a Keras with plug-ins looks for them here)
