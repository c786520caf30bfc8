"""What to use instead of a name of TensorFlow that is not here. One table for errors, `plimsoll check` and the documentation."""

KERAS_OPS = "Use keras.ops (https://keras.io/api/ops/), which has the same function under NumPy's name in most cases."
HINTS = {
    "compat.v1": "Graphs and sessions of TensorFlow 1 are not supported: write eager code with tf.function and tf.keras.",
    "compat": "Only tf.compat.as_str, as_bytes and as_text are here.",
    "Session": "Sessions of TensorFlow 1 are not supported: call functions directly, results are tensors with .numpy().",
    "placeholder": "Placeholders of TensorFlow 1 are not supported: use keras.Input or arguments of a function.",
    "get_variable": "Use tf.Variable, or Layer.add_weight.",
    "global_variables_initializer": "Variables have their values at once here: delete the call.",
    "layers": "Layers are in tf.keras.layers.",
    "contrib": "tf.contrib ended with TensorFlow 1.",
    "estimator": "Estimators ended with TensorFlow 2.15: use tf.keras.Model.fit.",
    "feature_column": "Use Keras's preprocessing layers or keras.utils.FeatureSpace.",
    "distribute": "One process trains on one machine here; only tf.distribute.get_strategy() and OneDeviceStrategy/MirroredStrategy().scope() do "
                  "nothing and are there.",
    "saved_model": "SavedModel is TensorFlow's own format: use model.save('name.keras') and keras.saving.load_model.",
    "lite": "TensorFlow Lite needs TensorFlow: save as .keras here and convert there.",
    "summary": "Of TensorBoard's event files scalars, histograms, images and texts are written here; keras.callbacks.CSVLogger writes numbers as text.",
    "profiler": "Use `plimsoll doctor`, %%plimsoll or Python's cProfile.",
    "ragged": "Ragged tensors have one ragged axis here, the second: pad with to_tensor(), tf.keras.utils.pad_sequences or Dataset.padded_batch.",
    "sparse": "Of sparse tensors that is not here: tf.sparse.to_dense makes a dense one; tf.keras.layers.Embedding takes sparse input as indices.",
    "lookup": "Only StaticHashTable, StaticVocabularyTable, MutableHashTable and their initializers are here: use tf.keras.layers.StringLookup, or a Python dict in the data pipeline.",
    "text": "Use tf.strings and tf.keras.layers.TextVectorization.",
    "audio": "Only WAV files are read and written here: read others with soundfile or librosa and pass arrays.",
    "gradients": "It is of TensorFlow 1 and works in its graphs only: use tf.GradientTape.",
    "strings.unicode_script": "Python's standard library has no table of scripts: use tf.numpy_function with a package such as `regex`.",
    "linalg.LinearOperator": "Of the linear operators LinearOperatorFullMatrix, Diag, Identity and LowerTriangular are here: use dense matrices.",
    "python.keras": "tensorflow.python is private: import from tensorflow.keras.",
    "python": "tensorflow.python is private; of it only client.device_lib is here. Use the public names.",
    "raw_ops": "Use the functions of tf, tf.math and tf.nn.",
    "while_loop": KERAS_OPS,
    "TensorArray": "Collect in a Python list and use tf.stack, or keras.ops.scan.",
    "keras.utils.multi_gpu_model": "It ended with Keras 2.4; a model runs on one device here.",
    "keras.models.Model.fit_generator": "fit_generator is gone since Keras 3: model.fit takes generators and Sequence objects.",
    "keras.models.Model.evaluate_generator": "evaluate_generator is gone since Keras 3: model.evaluate takes generators.",
    "keras.models.Model.predict_generator": "predict_generator is gone since Keras 3: model.predict takes generators.",
    "keras.utils.np_utils": "Use tf.keras.utils.to_categorical.",
    "keras.layers.CuDNNLSTM": "Use tf.keras.layers.LSTM.",
    "keras.layers.CuDNNGRU": "Use tf.keras.layers.GRU.",
    "keras.backend.get_session": "Sessions of TensorFlow 1 are not supported; keras.backend.clear_session() frees what models hold.",
    "keras.backend.set_session": "Sessions of TensorFlow 1 are not supported; plimsoll.set_memory_limit('2GiB') limits memory.",
    "ConfigProto": "Sessions of TensorFlow 1 are not supported; plimsoll.set_memory_limit('2GiB') limits memory.",
    "linalg": "keras.ops.linalg has the common functions.",
    "signal": "keras.ops has fft, rfft, stft and istft too.",
    "image": "keras.ops.image and the layers of keras.layers (RandomFlip, RandomRotation, ...) have more.",
}


def hint(name):
    """`name` without `tf.` in front."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        known = HINTS.get(".".join(parts[:count]))
        if known:
            return known
    if parts[0] == "keras":
        return "It is not in Keras 3: see https://keras.io/api/."
    return KERAS_OPS


def missing(name):
    return AttributeError(f"tf.{name} is not covered by Plimsoll's tensorflow. {hint(name)} (docs/tensorflow.md has what is covered; "
                          "`plimsoll check script.py` lists all such names.)")


def getter(prefix):
    """__getattr__ of a module of the api."""

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"{prefix}.{name}" if prefix else name)

    return __getattr__
