"""enable_lora, quantize to int8, saving what came of them, dtype policies, reversible embedding."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(7)
X = rng.integers(0, 20, (16, 5))
Y = rng.integers(0, 20, (16, 5))
inp = keras.Input((5,), dtype="int32")
e = layers.ReversibleEmbedding(20, 8) if hasattr(layers, "ReversibleEmbedding") else layers.Embedding(20, 8)
h = e(inp)
h = layers.Dense(8, activation="relu", name="d1")(h)
h = layers.EinsumDense("abc,cd->abd", output_shape=(5, 20), name="d2")(h)
model = keras.Model(inp, h)
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.2, v.shape))
model.compile(keras.optimizers.SGD(0.5), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(np.round(model.fit(X, Y, epochs=1, shuffle=False, verbose=0).history["loss"], 3))
for name in ("d1", "d2"):
    model.get_layer(name).enable_lora(2)
print(len(model.trainable_weights), len(model.non_trainable_weights))
model.compile(keras.optimizers.SGD(0.5), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(np.round(model.fit(X, Y, epochs=1, shuffle=False, verbose=0).history["loss"], 2))
model.save("lora.keras")
print(np.allclose(keras.models.load_model("lora.keras").predict(X, verbose=0), model.predict(X, verbose=0), atol=1e-5))
model.save_weights("l.weights.h5")
before = model.predict(X, verbose=0)
model.quantize("int8")
print(np.abs(model.predict(X, verbose=0) - before).max() < 0.3, model.get_layer("d1").dtype_policy.name.startswith("int8"), model.get_layer("d1").kernel.dtype if not model.get_layer("d1").lora_enabled else "int8")
model.save("q.keras")
print(keras.models.load_model("q.keras").predict(X, verbose=0).shape)
