from keras_plimsoll.src.ops.core import *  # noqa: F401,F403
