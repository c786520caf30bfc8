"""Writes windows.npz: SciPy's windows and the kernels of Keras's STFT initializer, for src/layers/windows_test.cpp.
Run: python make_window_goldens.py"""
import os
import pathlib

os.environ["KERAS_BACKEND"] = "numpy"

import keras
import numpy as np
import scipy.signal

NAMES = ["boxcar", "hann", "hamming", "blackman", "nuttall", "blackmanharris", "flattop", "triang", "bartlett", "parzen", "bohman",
         "barthann", "cosine", "exponential", "tukey", "taylor", "lanczos"]
arrays = {}
for name in NAMES:
    for length in [1, 2, 8, 13]:
        for periodic in [False, True]:
            arrays[f"{name}_{length}_{int(periodic)}"] = scipy.signal.get_window(name, length, periodic)
for side in ["real", "imag"]:
    for scaling in ["density", "spectrum", None]:
        made = keras.initializers.STFT(side, "hamming", scaling, True)((300, 1, 257), "float64")
        arrays[f"stft_{side}_{scaling}"] = np.asarray(made)[::37]
    arrays[f"stft_{side}_plain"] = keras.initializers.STFT(side, None)((5, 1, 4), "float64")
    arrays[f"stft_{side}_list"] = keras.initializers.STFT(side, [0.5, 1.0, 0.25])((3, 1, 3), "float64")
np.savez_compressed(pathlib.Path(__file__).parent / "windows.npz", **{name: np.asarray(a, "float64") for name, a in arrays.items()})
print(len(arrays), "arrays")
