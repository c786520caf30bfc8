from keras_plimsoll.src.ops import core, image, linalg, math, nn, numpy  # noqa: F401
from keras_plimsoll.src.ops.core import *  # noqa: F401,F403
