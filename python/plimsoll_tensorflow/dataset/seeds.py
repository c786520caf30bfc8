"""The generator of shuffles without a seed; tf.random.set_seed starts it anew."""
import numpy as np

generator = np.random.default_rng()


def set_seed(seed):
    global generator
    generator = np.random.default_rng(seed)
