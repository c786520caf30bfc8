"""tf.keras.layers.experimental.preprocessing and its names of Keras 2."""
import sys

import keras

from plimsoll_tensorflow import hints
from plimsoll_tensorflow.text_layers import StringLookup, TextVectorization  # noqa: F401

NAMES = ("CategoryEncoding", "CenterCrop", "Discretization", "Hashing", "IntegerLookup", "Normalization", "RandomBrightness", "RandomContrast",
         "RandomCrop", "RandomFlip", "RandomHeight", "RandomRotation", "RandomTranslation", "RandomWidth", "RandomZoom", "Rescaling", "Resizing")
globals().update({name: getattr(keras.layers, name) for name in NAMES if hasattr(keras.layers, name)})
preprocessing = sys.modules[__name__]
__getattr__ = hints.getter("keras.layers.experimental.preprocessing")
