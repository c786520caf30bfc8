import os
import tempfile

import keras
import numpy as np
from keras import layers

folder = tempfile.mkdtemp()
rng = np.random.default_rng(2)
x = rng.normal(size=(32, 16)).astype("float32")


def settle(model):
    r = np.random.default_rng(3)
    model.set_weights([r.normal(size=w.shape) * 0.3 for w in model.get_weights()])
    return model


def build():
    return settle(keras.Sequential([keras.Input((16,)), layers.Dense(24, activation="relu", name="first"), layers.EinsumDense("ab,bc->ac", output_shape=8, bias_axes="c", name="second"), layers.Dense(3, name="logits")]))


full = build()
reference = full.predict(x, verbose=0)
for mode in ("int8", "int4"):
    model = build()
    model.quantize(mode)
    got = model.predict(x, verbose=0)
    error = np.abs(got - reference).mean() / np.abs(reference).mean()
    print(mode, "error below", 0.05 if mode == "int8" else 0.6, bool(error < (0.05 if mode == "int8" else 0.6)), [l.dtype_policy.name for l in model.layers], [str(w.dtype) for w in model.layers[0].weights])
    path = os.path.join(folder, mode + ".keras")
    model.save(path)
    again = keras.saving.load_model(path)
    print(np.allclose(again.predict(x, verbose=0), got, atol=1e-5), again.layers[0].quantization_mode)
print(os.path.getsize(os.path.join(folder, "int8.keras")) > 0)

lora = build()
for layer in lora.layers:
    if layer.name != "logits":
        layer.enable_lora(rank=2)
print(len(lora.trainable_weights), len(lora.non_trainable_weights), np.allclose(lora.predict(x, verbose=0), reference, atol=1e-6))
for w in lora.trainable_weights:
    if "lora" in w.path:
        w.assign(np.full(w.shape, 0.1, "float32"))
y = rng.integers(0, 3, 32)
lora.compile(keras.optimizers.SGD(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
before = keras.ops.convert_to_numpy(lora.layers[0]._kernel).copy()
h = lora.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0)
print(["%.4f" % v for v in h.history["loss"]], np.array_equal(before, keras.ops.convert_to_numpy(lora.layers[0]._kernel)))
lora.save(os.path.join(folder, "merged.keras"))
merged = keras.saving.load_model(os.path.join(folder, "merged.keras"))
print(merged.layers[0].lora_enabled, np.allclose(merged.predict(x, verbose=0), lora.predict(x, verbose=0), atol=1e-5))
lora.quantize("int8")
print(lora.layers[0].lora_enabled, len(lora.trainable_weights))

emb = settle(keras.Sequential([keras.Input((5,), dtype="int32"), layers.Embedding(20, 8, name="e"), layers.GlobalAveragePooling1D()]))
tokens = rng.integers(0, 20, (4, 5))
e0 = emb.predict(tokens, verbose=0)
emb.quantize("int8")
print("embedding", bool(np.abs(emb.predict(tokens, verbose=0) - e0).max() < 0.02), emb.get_layer("e").embeddings.dtype)
attention = layers.MultiHeadAttention(2, 4, dtype=keras.DTypePolicy("mixed_bfloat16"))
out = attention(np.ones((1, 3, 8), "float32"), np.ones((1, 3, 8), "float32"))
print(keras.backend.standardize_dtype(out.dtype), {str(w.dtype) for w in attention.weights})

policies = keras.dtype_policies.DTypePolicyMap(default_policy="float32")
policies["first"] = keras.DTypePolicy("bfloat16")
print(policies["first"].name, policies["other"].name, len(policies))
print(keras.dtype_policies.QuantizedDTypePolicy("int8", "float32").name, keras.dtype_policies.get("int8_from_mixed_bfloat16").compute_dtype, keras.dtype_policies.serialize(keras.DTypePolicy("mixed_float16"))["config"])
keras.config.set_dtype_policy("mixed_bfloat16")
mixed = keras.Sequential([keras.Input((16,)), layers.Dense(4, kernel_initializer="ones"), layers.Dense(1, kernel_initializer="ones", dtype="float32")])
mixed.compile("adam", "mse")
loss = mixed.fit(x, np.zeros((32, 1)), epochs=1, verbose=0).history["loss"][0]
print(np.isfinite(loss), mixed.layers[0].compute_dtype, mixed.layers[0].variable_dtype, mixed.predict(x[:1], verbose=0).dtype, keras.config.dtype_policy().name)
keras.config.set_dtype_policy("float32")
q, scale = keras.quantizers.abs_max_quantize(np.array([[1.0, -2.0, 0.5]], "float32"), axis=1, to_numpy=True)
print(np.asarray(q), np.asarray(scale).round(3))
quantizer = keras.quantizers.AbsMaxQuantizer(axis=1)
print([np.asarray(keras.ops.convert_to_numpy(v)).tolist() for v in quantizer(keras.ops.array([[3.0, -1.5]]))], sorted(quantizer.get_config()))
packed, shape, axis = keras.quantizers.pack_int4(np.array([[1, -2], [3, 4]], "int8"))
print(np.asarray(keras.ops.convert_to_numpy(packed)).tolist(), np.asarray(keras.ops.convert_to_numpy(keras.quantizers.unpack_int4(packed, shape[0]))).tolist())
print(keras.ops.convert_to_numpy(keras.quantizers.fake_quant_with_min_max_vars(np.array([0.0, 0.26, 0.9], "float32"), 0.0, 1.0, num_bits=3)).round(4))
try:
    build().quantize("int7")
except (ValueError, TypeError) as error:
    print(type(error).__name__)
