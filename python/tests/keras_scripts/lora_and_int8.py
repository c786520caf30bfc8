# LoRA on several layers, then int8: what is trainable, what is stored, what comes out
import os
import tempfile

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(20)
inputs = keras.Input((6,), dtype="int32")
x = layers.Embedding(20, 8, name="table")(inputs)
x = layers.EinsumDense("abc,cd->abd", output_shape=(None, 10), bias_axes="d", activation="gelu", name="mix")(x)
x = layers.Conv1D(6, 3, padding="same", name="conv")(x)
x = layers.GlobalAveragePooling1D()(x)
model = keras.Model(inputs, layers.Dense(4, name="head")(x))
for v in model.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.3)
tokens, labels = rng.integers(0, 20, (24, 6)), rng.integers(0, 4, 24)
for name in ("table", "mix", "conv", "head"):
    model.get_layer(name).enable_lora(2)
for name in ("table", "mix", "conv", "head"):
    layer = model.get_layer(name)
    a, b = [v for v in layer.trainable_variables if "lora" in v.path]
    a.assign(rng.normal(size=a.shape) * 0.1)
print("trainable", sorted(v.path for v in model.trainable_variables))
frozen = {v.path: np.array(v) for v in model.non_trainable_variables}
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(0.03), loss)
h = model.fit(tokens, labels, batch_size=8, epochs=4, shuffle=False, verbose=0)
print("lora", [f"{v:.4f}" for v in h.history["loss"]], all(np.array_equal(frozen[v.path], np.array(v)) for v in model.non_trainable_variables))
before = model.predict(tokens, verbose=0)
path = os.path.join(tempfile.mkdtemp(), "lora.keras")
model.save(path)
merged = keras.models.load_model(path)
print("merged", np.allclose(merged.predict(tokens, verbose=0), before, atol=1e-5))

model.quantize("int8")
print("kinds", [(v.path, v.dtype) for v in model.get_layer("head").variables if "seed" not in v.path])
after = model.predict(tokens, verbose=0)
print("int8", f"{np.abs(after - before).max() / np.abs(before).max():.2f}", f"{np.abs(after).sum():.2f}")
h = model.fit(tokens, labels, batch_size=8, epochs=2, shuffle=False, verbose=0)
print("on top of int8", [round(v, 2) for v in h.history["loss"]])
model.save(path)
print("int8 saved", np.allclose(keras.models.load_model(path).predict(tokens, verbose=0), model.predict(tokens, verbose=0), atol=0.02))

dense = layers.Dense(3, use_bias=False)
dense.build((None, 5))
dense.kernel.assign(np.linspace(-1, 1, 15).reshape(5, 3))
dense.quantize("int8")
x = rng.normal(size=(4, 5)).astype("float32")
print(ops.convert_to_numpy(dense(x)).round(2).tolist(), dense.quantization_mode, ops.convert_to_numpy(dense.kernel).dtype.kind)
q, scale = keras.quantizers.abs_max_quantize(x, axis=-1)
print(ops.convert_to_numpy(q).tolist(), ops.convert_to_numpy(scale).round(3).tolist())
