"""Writes draws.npz: what real Keras makes of images by chance once all is drawn, for src/layers/draws_test.cpp.

Images and draws are made alike on both sides (inputs.py, tests/support/fill.h) from the name of the case.
- perspective_*: keras.ops.image.perspective_transform with corners moved by given shares, as RandomPerspective moves them.
- elastic_*: keras.ops.image.elastic_transform with its noise given. On JAX: TensorFlow's "reflect" is another one below zero.
- change_0 .. change_10: RandAugment with a factor of 0, which leaves nothing to chance but which of the eleven is taken.
- gradient_*: the gradients of sum(layer(x) * dy), of layers whose factors leave nothing to chance and of which TensorFlow has no
  gradients, or those of the way back (projections).
- shear_*_0, shear_*_1, hue_*_0, hue_*_1: RandomShear and RandomHue of a factor that is no range, one way and the other, which is
  drawn for each image.
- boundaries_*: what Discretization.adapt() learns.
Run: python make_draw_goldens.py
"""
import os
import pathlib

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np

from inputs import fill, hash_text

FOLDER = pathlib.Path(__file__).parent
arrays = {}


def made(shape, low, high, key):
    return np.array(fill("float32", shape, low, high, hash_text(key)))


def perspective(name, shape, scale, **options):
    images = made(shape, 0, 255, f"{name}/x")
    shares = made([shape[0], 4, 2], -0.5 * scale, 0.5 * scale, f"{name}/shares")
    right, low = shape[2] - 1.0, shape[1] - 1.0
    start = np.array([[[0, 0], [right, 0], [0, low], [right, low]]] * shape[0], "float32")
    arrays[name] = keras.ops.image.perspective_transform(images, start, start + start * shares, **options)


def elastic(name, shape, strength, **options):
    images = made(shape, 0, 255, f"{name}/x")
    noise = made(shape[:3], -1.7, 1.7, f"{name}/noise")
    jax.random.normal, drawn = (lambda *args, **kwargs: noise), jax.random.normal
    alpha, sigma = max(shape[1:3]) * 0.1 * strength, min(shape[1:3]) * 0.05 * strength
    arrays[name] = keras.ops.image.elastic_transform(images, alpha=alpha, sigma=sigma, seed=1, **options)
    jax.random.normal = drawn


perspective("perspective", [3, 7, 9, 2], 0.4, fill_value=5.0)
perspective("perspective_strong", [2, 8, 6, 3], 1.0)
perspective("perspective_nearest", [2, 6, 7, 1], 0.6, interpolation="nearest", fill_value=-1.0)
elastic("elastic", [2, 45, 50, 3], 1.0, fill_mode="reflect")
elastic("elastic_weak", [2, 44, 41, 2], 0.6, fill_mode="constant", fill_value=9.0)
elastic("elastic_small", [3, 12, 10, 2], 0.9, fill_mode="nearest", interpolation="nearest")
elastic("elastic_mirror", [2, 30, 22, 1], 1.0, fill_mode="mirror")
elastic("elastic_wrap", [2, 22, 30, 1], 1.0, fill_mode="wrap")

layer = keras.layers.RandAugment(factor=0.0, num_ops=1)
images = made([2, 6, 7, 3], 0, 255, "change/x")
for place in range(11):
    transformation = layer.get_random_transformation(images)
    transformation["layer_idxes"] = [place]
    arrays[f"change_{place}"] = layer.transform_images(images, transformation)



def gradient(name, layer, high=255.0):
    x, dy = made([2, 5, 6, 3], 0.1 * high, 0.9 * high, f"{name}/x"), made([2, 5, 6, 3], -1, 1, f"{name}/dy")
    arrays[f"gradient_{name}"] = jax.grad(lambda images: (layer(images, training=True) * dy).sum())(x)


L = keras.layers
gradient("rotation", L.RandomRotation((0.1, 0.1)))
gradient("rotation_constant", L.RandomRotation((-0.2, -0.2), fill_mode="constant", fill_value=7.0))
gradient("zoom", L.RandomZoom((0.3, 0.3), (-0.2, -0.2), fill_mode="nearest"))
gradient("translation", L.RandomTranslation((0.3, 0.3), (-0.25, -0.25), fill_mode="wrap"))
gradient("saturation", L.RandomSaturation((0.3, 0.3), value_range=(0, 1)), high=1.0)
gradient("hue", L.RandomHue((0.0, 0.0), value_range=(0, 1)), high=1.0)
gradient("jitter", L.RandomColorJitter((0, 1), brightness_factor=(0.05, 0.05), saturation_factor=(0.4, 0.4)), high=1.0)



def both_ways(name, layer, key, factor, high=255.0, size=(4, 7, 9, 3)):
    x = made(list(size), 0, high, f"{name}/x")
    for way, sign in enumerate((1, -1)):
        drawn = np.full((size[0], *np.shape(factor)), sign * np.array(factor), "float32")
        arrays[f"{name}_{way}"] = layer.transform_images(x, {key: drawn}, training=True)


both_ways("shear_reflect", L.RandomShear(0.3, 0.2), "shear_factor", [0.3, 0.2])
both_ways("shear_constant", L.RandomShear(0.8, 0.0, fill_mode="constant", fill_value=7.0), "shear_factor", [0.8, 0.0])
both_ways("shear_nearest", L.RandomShear(0.0, 0.6, fill_mode="nearest", interpolation="nearest"), "shear_factor", [0.0, 0.6])
both_ways("shear_wrap", L.RandomShear(0.4, 0.9, fill_mode="wrap"), "shear_factor", [0.4, 0.9])
both_ways("hue_bytes", L.RandomHue(0.3), "factor", 0.15)  # half of it, as Keras draws it
both_ways("hue_unit", L.RandomHue(0.8, value_range=(0, 1)), "factor", 0.4, high=1.0)

for name, count, bins, epsilon in [("few", 30, 4, 0.01), ("many", 5000, 10, 0.01), ("coarse", 1000, 3, 0.2)]:
    layer = L.Discretization(num_bins=bins, epsilon=epsilon)
    layer.adapt(made([count], -3, 5, f"boundaries_{name}"))
    arrays[f"boundaries_{name}"] = layer.bin_boundaries

np.savez_compressed(FOLDER / "draws.npz", **{name: np.asarray(value, "float32") for name, value in arrays.items()})
print(len(arrays), "arrays")
